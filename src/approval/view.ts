import type { Approval, ApprovalRequest, Quorum, RecordedDecision } from "../core/approval.ts";
import type { ApprovalRow } from "../storage/approvals.ts";

/** A row as callers see it. */
export function view(row: ApprovalRow): Approval {
  const decisions = JSON.parse(row.decisions) as RecordedDecision[];
  const denial = row.status === "denied" ? decisions.findLast(({ decision }) => decision === "deny") : undefined;
  return {
    id: row.id,
    agent: row.agent,
    status: row.status,
    createdAt: new Date(row.created_ms).toISOString(),
    expiresAt: new Date(row.expires_ms).toISOString(),
    decidedAt: row.decided_ms === null ? null : new Date(row.decided_ms).toISOString(),
    request: JSON.parse(row.request) as ApprovalRequest,
    quorum: JSON.parse(row.quorum) as Quorum,
    decisions,
    reason: denial?.reason ?? null,
    session: row.session,
  };
}
