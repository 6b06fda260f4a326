import { styleText } from "node:util";
import type { Approval, ApprovalStatus, Grant } from "../../../core/approval.ts";
import { quoteArgv } from "../../../shell/quote.ts";
import { formatAge } from "../../../text/format.ts";
import type { Column } from "../../../text/table.ts";
import { shownLine } from "../../../text/visible.ts";
import { shortIds } from "../../table.ts";

const HUE: Record<ApprovalStatus, "green" | "yellow" | "red" | "gray"> = {
  pending: "yellow",
  approved: "green",
  denied: "red",
  expired: "red",
  used: "gray",
};

interface TableContext {
  nowMs: number;
  color: boolean;
}

/** Returns the columns for a terminal. The command is cut to the width; `sallyport approvals ID` shows all of it. */
export function approvalColumns(approvals: Approval[], { nowMs, color }: TableContext): Column<Approval>[] {
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

/** The columns for a pipe. Nothing is shortened. */
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

/** Returns the command of a grant. Exact arguments are quoted, so that `'*'` differs from the pattern `*`. */
export function grantText({ executable, args, piped }: Grant): string {
  const words =
    args.kind === "exact" ? quoteArgv([executable, ...args.values]) : [executable, ...args.patterns].join(" ");
  return shownLine(words) + (piped ? "  (including in a pipeline)" : "");
}
