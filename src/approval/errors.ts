import type { Approval, ApprovalErrorType, RecordedDecision } from "../core/approval.ts";
import { type Recovery, SallyportError } from "../core/error.ts";
import { operatorStep } from "../core/next-step.ts";

const LIST = operatorStep("list_approvals", "List pending requests with `sallyport approvals`.");
const ONCE = operatorStep("approve_once", "Approve it once with `sallyport approve ID`.");

function failure(type: ApprovalErrorType, message: string, recovery: Recovery[], details = {}): SallyportError {
  return new SallyportError(type, message, recovery, details);
}

export function approvalNotFound(reference: string): SallyportError {
  return failure("ApprovalNotFound", `No such approval request: ${JSON.stringify(reference)}.`, [LIST]);
}

export function ambiguousApproval(reference: string): SallyportError {
  return new SallyportError("AmbiguousId", `${JSON.stringify(reference)} is a prefix of more than one ID.`, [
    { action: "use_longer_prefix", hint: "Use more characters of the ID." },
    LIST,
  ]);
}

/**
 * Returns an error that names the decision, the person and the time, so that a later approver sees that their own
 * decision did not count.
 */
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
  const message = `You already ${decision === "deny" ? "denied" : "approved"} this request at ${at}. Each person can decide once.`;
  return failure("AlreadyDecided", message, [LIST]);
}

export function notAnApprover(who: string, approvers: readonly string[]): SallyportError {
  return failure("NotAnApprover", `\`${who}\` is not an approver of this request.`, [
    { action: "ask_approver", hint: `Ask one of the approvers: ${approvers.join(", ")}.` },
  ]);
}

export function selfApproval(why: string): SallyportError {
  return failure("SelfApproval", `Only a person can decide this request: ${why}.`, [
    operatorStep("ask_person", "Wait for a person to decide in their own terminal with `sallyport approvals`."),
  ]);
}

/** A process of a session used the credentials of a person. */
export function notFromPerson(what: string): SallyportError {
  return failure("SelfApproval", `Only a person can do this, but the request came from ${what}.`, [
    { action: "ask_person", hint: "Wait for a person to act in the console or in their own terminal." },
  ]);
}

/** The command line was used by an agent host or a script. The text may reach a model, so it does not name the setting. */
export function notAttended({ kind, why }: { kind: "host" | "script"; why: string }): SallyportError {
  const elsewhere =
    kind === "host"
      ? "A person can do this in the console, or in a terminal that no agent host has started."
      : "A person can do this in the console, or in a terminal (with ssh, use `ssh -t`).";
  return failure("SelfApproval", `Only a person can do this: ${why}.`, [
    operatorStep("ask_person", elsewhere),
    operatorStep("configure", 'The operator can allow it for scripts; see "Who can decide" in docs/approvals.md.'),
  ]);
}

export function notGrantable(why: string): SallyportError {
  return failure("NotGrantable", `A standing grant is not possible: ${why}.`, [ONCE]);
}

export function tooManyPending(most: number): SallyportError {
  return new SallyportError("ResourceLimitExceeded", `This agent already has ${most} pending approval requests.`, [
    { action: "wait", hint: "Wait until some are decided or expire, then try again." },
  ]);
}

export function pendingTooLong(most: number): SallyportError {
  const message = `The pending approval requests of this agent would exceed ${most >> 20} MiB.`;
  return new SallyportError("ResourceLimitExceeded", message, [
    { action: "wait", hint: "Wait until some are decided or expire, then try again." },
    { action: "optimize", hint: "Write long text to a file and run a command that reads the file." },
  ]);
}

export function grantNotFound(reference: string): SallyportError {
  return failure("GrantNotFound", `No such grant: ${JSON.stringify(reference)}.`, [
    operatorStep("list_grants", "List grants with `sallyport allow list`."),
  ]);
}
