import type { Approval, ApprovalAudit } from "../core/approval.ts";
import { maskText } from "../text/secrets.ts";
import { shownLine } from "../text/shown-text.ts";

const SUMMARY_LENGTH = 200;
/** Of a long command, so much is looked at for secrets. */
const LOOK_LENGTH = 4096;

export type AuditPart = Pick<ApprovalAudit, "actor" | "channel" | "outcome"> &
  Partial<Pick<ApprovalAudit, "session" | "detail">>;

/** What the audit is told about an approval: the beginning of the command, and the id to find the rest by. */
export function auditEntry({ id, agent, request }: Approval, entry: AuditPart): ApprovalAudit {
  const { text } = request.command;
  // Masked while its lines are lines and nothing is cut: half a secret, or one behind a mark, is not known as one.
  const safe = maskText(text.slice(0, LOOK_LENGTH));
  const cut = text.length > LOOK_LENGTH || safe.length > SUMMARY_LENGTH;
  const summary = shownLine(safe.slice(0, SUMMARY_LENGTH)) + (cut ? "… (cut)" : "");
  return { kind: "approval", agent, session: null, summary, ...entry, detail: { approval: id, ...entry.detail } };
}
