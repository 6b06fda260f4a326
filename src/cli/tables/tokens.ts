import type { Token } from "../../storage/tokens.ts";
import { formatAge, formatDuration } from "../../text/format.ts";
import { shownLine } from "../../text/shown-text.ts";
import type { Column } from "../../text/table.ts";

export function tokenColumns(nowMs: number): Column<Token>[] {
  const ago = (at: string | null) => (at === null ? "never" : `${formatAge(nowMs - Date.parse(at))} ago`);
  return [
    { title: "NAME", value: ({ name }) => name },
    { title: "ROLE", value: ({ role }) => role },
    { title: "AGENT", value: ({ agent }) => shownLine(agent), flexible: true },
    { title: "STATUS", value: (token) => tokenStatus(token, nowMs) },
    { title: "USED", value: ({ lastUsedAt }) => ago(lastUsedAt) },
    { title: "EXPIRES", value: ({ expiresAt }) => expiryText(expiresAt, nowMs) },
    { title: "BY", value: ({ createdBy }) => shownLine(createdBy) },
  ];
}

/** For a program. */
export const PIPED_TOKEN_COLUMNS: Column<Token>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "NAME", value: ({ name }) => name },
  { title: "ROLE", value: ({ role }) => role },
  { title: "AGENT", value: ({ agent }) => shownLine(agent) },
  { title: "STATUS", value: (token) => tokenStatus(token, Date.now()) },
  { title: "LAST USED", value: ({ lastUsedAt }) => lastUsedAt ?? "never" },
  { title: "EXPIRES", value: ({ expiresAt }) => expiresAt ?? "never" },
  { title: "BY", value: ({ createdBy }) => shownLine(createdBy) },
];

function tokenStatus({ revokedAt, expiresAt }: Token, nowMs: number): string {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? "expired" : "good";
}

function expiryText(expiresAt: string | null, nowMs: number): string {
  if (expiresAt === null) return "never";
  const left = Date.parse(expiresAt) - nowMs;
  return left > 0 ? `in ${formatDuration(left)}` : `${formatAge(-left)} ago`;
}
