import type { Approval, ApprovalAudit } from "../contract/approval.ts";
import { shownLine } from "../present/approval-text.ts";

const SUMMARY_LENGTH = 200;

export type AuditPart = Pick<ApprovalAudit, "actor" | "channel" | "outcome"> &
  Partial<Pick<ApprovalAudit, "session" | "detail">>;

/** What the audit is told about an approval: the beginning of the command, and the id to find the rest by. */
export function auditEntry({ id, agent, request }: Approval, entry: AuditPart): ApprovalAudit {
  const { text } = request.command;
  const summary = shownLine(text.slice(0, SUMMARY_LENGTH)) + (text.length > SUMMARY_LENGTH ? "… (cut)" : "");
  return { kind: "approval", agent, session: null, summary, ...entry, detail: { approval: id, ...entry.detail } };
}
