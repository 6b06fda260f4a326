import { styleText } from "node:util";
import type { Approval, ApprovalStatus, Grant } from "../../../core/approval.ts";
import { quoteArgv } from "../../../shell/quote.ts";
import { formatAge, formatDuration } from "../../../text/format.ts";
import { shownLine } from "../../../text/shown-text.ts";
import type { Column } from "../../../text/table.ts";
import { shortIds } from "../../tables/sessions.ts";

const HUE: Record<ApprovalStatus, "green" | "yellow" | "red" | "gray"> = {
  pending: "yellow",
  approved: "green",
  denied: "red",
  expired: "red",
  used: "gray",
};

export interface Screen {
  nowMs: number;
  color: boolean;
}

/** For a person: the command is cut to what fits, with `…` where it was; `sallyport approvals ID` shows it whole. */
export function approvalColumns(approvals: Approval[], { nowMs, color }: Screen): Column<Approval>[] {
  const shorten = shortIds(approvals.map(({ id }) => id));
  const paint = (text: string, status: ApprovalStatus) =>
    color ? styleText(HUE[status], text, { validateStream: false }) : text;
  return [
    { title: "ID", value: ({ id }) => shorten(id) },
    { title: "AGENT", value: ({ request }) => request.agent },
    { title: "STATUS", value: ({ status }) => status, style: (text, { status }) => paint(text, status) },
    { title: "AGE", value: ({ createdAt }) => formatAge(nowMs - Date.parse(createdAt)), align: "right" },
    { title: "COMMAND", value: commandOf, flexible: true },
  ];
}

/** For a program: everything whole. */
export const PIPED_APPROVAL_COLUMNS: Column<Approval>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "AGENT", value: ({ request }) => request.agent },
  { title: "STATUS", value: ({ status }) => status },
  { title: "CREATED", value: ({ createdAt }) => createdAt },
  { title: "EXPIRES", value: ({ expiresAt }) => expiresAt },
  { title: "COMMAND", value: commandOf },
];

export function commandOf({ request }: Approval): string {
  return shownLine(request.command.text);
}

/** Grants, for a person. */
export function grantColumns(grants: Grant[], { nowMs }: Screen): Column<Grant>[] {
  const shorten = shortIds(grants.map(({ id }) => id));
  const ago = (at: string | null) => (at === null ? "never" : `${formatAge(nowMs - Date.parse(at))} ago`);
  return [
    { title: "ID", value: ({ id }) => shorten(id) },
    { title: "AGENT", value: ({ agent }) => shownLine(agent) },
    { title: "STATUS", value: (grant) => grantStatus(grant, nowMs) },
    { title: "USED", value: ({ lastUsedAt }) => ago(lastUsedAt) },
    { title: "EXPIRES", value: ({ expiresAt }) => expiryText(expiresAt, nowMs) },
    { title: "BY", value: ({ createdBy }) => shownLine(createdBy) },
    { title: "FOLDER", value: ({ cwd }) => shownLine(cwd) },
    { title: "COMMAND", value: grantText, flexible: true },
  ];
}

export const PIPED_GRANT_COLUMNS: Column<Grant>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "AGENT", value: ({ agent }) => shownLine(agent) },
  { title: "STATUS", value: (grant) => grantStatus(grant, Date.now()) },
  { title: "USED", value: ({ lastUsedAt }) => lastUsedAt ?? "-" },
  { title: "EXPIRES", value: ({ expiresAt }) => expiresAt ?? "-" },
  { title: "BY", value: ({ createdBy }) => shownLine(createdBy) },
  { title: "FOLDER", value: ({ cwd }) => shownLine(cwd) },
  { title: "COMMAND", value: grantText },
];

/** Patterns as they were given, exact arguments quoted: `'*'` is a star, `*` a pattern. */
export function grantText({ executable, args, piped }: Grant): string {
  const words =
    args.kind === "exact" ? quoteArgv([executable, ...args.values]) : [executable, ...args.patterns].join(" ");
  return shownLine(words) + (piped ? "  (also in a pipe)" : "");
}

function grantStatus({ revokedAt, expiresAt, current }: Grant, nowMs: number): string {
  if (revokedAt !== null) return "revoked";
  if (expiresAt !== null && Date.parse(expiresAt) <= nowMs) return "expired";
  return current ? "live" : "program changed";
}

function expiryText(expiresAt: string | null, nowMs: number): string {
  if (expiresAt === null) return "never";
  const left = Date.parse(expiresAt) - nowMs;
  return left > 0 ? `in ${formatDuration(left)}` : `${formatAge(-left)} ago`;
}
