import type { Approval, ApprovalErrorType, RecordedDecision } from "../core/approval.ts";
import { type Recovery, SallyportError } from "../core/error.ts";

const LIST = { action: "list_approvals", hint: "`sallyport approvals` lists what is waiting." };
const ONCE = { action: "approve_once", hint: "It can be allowed this one time: `sallyport approve ID`." };

function failure(type: ApprovalErrorType, message: string, recovery: Recovery[], details = {}): SallyportError {
  return new SallyportError(type, message, recovery, details);
}

export function approvalNotFound(reference: string): SallyportError {
  return failure("ApprovalNotFound", `There is no approval ${JSON.stringify(reference)}.`, [LIST]);
}

export function ambiguousApproval(reference: string): SallyportError {
  return new SallyportError("AmbiguousId", `${JSON.stringify(reference)} is the beginning of several ids.`, [
    { action: "use_longer_prefix", hint: "Give more of the id." },
    LIST,
  ]);
}

/** Says what was decided, by whom and when, so that nobody believes their own word counted. */
export function alreadyDecided(approval: Approval): SallyportError {
  const last = approval.decisions.at(-1);
  const by = last ? ` by ${last.who} (${last.channel}) at ${last.at}` : "";
  const what = {
    pending: "is still pending",
    approved: `was approved${by}`,
    denied: `was denied${by}`,
    used: `was approved${by} and has been used`,
    expired: `expired at ${approval.expiresAt}`,
  }[approval.status];
  const details = { approval: approval.id, status: approval.status, decision: last ?? null };
  return failure("AlreadyDecided", `This request ${what}.`, [LIST], details);
}

export function alreadyVoted({ decision, at }: RecordedDecision): SallyportError {
  const message = `You have already decided ${decision === "deny" ? "against" : "for"} it, at ${at}; each person counts once.`;
  return failure("AlreadyDecided", message, [LIST]);
}

export function notAnApprover(who: string, approvers: readonly string[]): SallyportError {
  return failure("NotAnApprover", `${who} is not among those who decide this: ${approvers.join(", ")}.`, [
    { action: "ask_approver", hint: `Ask one of them: ${approvers.join(", ")}.` },
  ]);
}

export function selfApproval(why: string): SallyportError {
  return failure("SelfApproval", `Only a person can decide this, and ${why}.`, [
    { action: "ask_person", hint: "Wait for a person to decide, from a terminal of their own: `sallyport approvals`." },
  ]);
}

export function notGrantable(why: string): SallyportError {
  return failure("NotGrantable", `This cannot be allowed for good: ${why}.`, [ONCE]);
}

export function tooManyPending(most: number): SallyportError {
  return new SallyportError("ResourceLimitExceeded", `${most} requests of this agent wait for a person already.`, [
    { action: "wait", hint: "Wait until some are decided or expire, then ask again." },
  ]);
}

export function pendingTooLong(most: number): SallyportError {
  const message = `The requests of this agent that wait for a person would take more than ${most} bytes.`;
  return new SallyportError("ResourceLimitExceeded", message, [
    { action: "wait", hint: "Wait until some are decided or expire, then ask again." },
    { action: "optimize", hint: "Put long text into a file, and ask for a command that reads it." },
  ]);
}

export function grantNotFound(reference: string): SallyportError {
  return failure("GrantNotFound", `There is no grant ${JSON.stringify(reference)}.`, [
    { action: "list_grants", hint: "`sallyport allow list` lists them." },
  ]);
}
