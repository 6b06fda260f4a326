import type { Approval } from "../core/approval.ts";
import type { ErrorType, Recovery, SallyportError } from "../core/error.ts";
import { nextStep, operatorStep } from "../core/next-step.ts";
import type { Reason, Verdict } from "../core/policy.ts";
import type { RunResult } from "../core/result.ts";
import { sandboxLabel } from "../sandbox/describe.ts";
import { decodeSnapshot } from "../sandbox/snapshot.ts";
import type { SessionFields } from "../storage/sessions.ts";

/** The status and error of a command that was not run. */
export interface Refusal {
  status: "blocked" | "denied" | "pending" | "failed";
  error: { type: ErrorType; message: string; recovery: readonly Recovery[] };
}

const MOST_QUOTED_CHARACTERS = 16 << 10;

const REPORT: Recovery = {
  action: "report",
  hint: "Report this to the user. Do not rewrite the command to get around the decision.",
};

export function commandRefused({ verdict, reasons }: Verdict): Refusal {
  const blocked = verdict === "blocked";
  const [reason] = reasons;
  const why = reason ? quoteReason(reason) : "this command is not allowed.";
  // Several commands of a text often have the same reason.
  const suggestions = new Set(reasons.flatMap(({ suggestion }) => (suggestion ? [suggestion] : [])));
  const recovery = [...suggestions].map((hint) => ({ action: "use_alternative", hint }));
  return {
    status: blocked ? "blocked" : "denied",
    error: {
      type: blocked ? "CommandBlocked" : "CommandDenied",
      message: blocked ? `Blocked: ${why} This rule cannot be overridden.` : `Denied: ${why}`,
      recovery: [...recovery.slice(0, 3), REPORT],
    },
  };
}

/** Returns the message of a reason and its rule as a clause that can follow a colon. */
function quoteReason({ message, rule }: Reason): string {
  return `${message.replace(/^This /, "this ").replace(/\.$/, "")} (${rule}).`;
}

export function approvalDenied({ id, status, expiresAt, decidedAt, decisions }: Approval): Refusal {
  const denial = status === "denied" ? decisions.find(({ decision }) => decision === "deny") : undefined;
  const expired = decidedAt === null ? "approval request expired without a decision" : "approval expired unused";
  const message = denial
    ? `Denied by ${denial.who}${denial.reason ? `: ${denial.reason.replace(/(?<![.!?])$/, ".")}` : "."}`
    : `Denied: the ${expired} at ${expiresAt}.`;
  return {
    status: "denied",
    error: {
      type: "CommandDenied",
      message,
      recovery: [nextStep("approval", { name: "show-approval", approval: id }), REPORT],
    },
  };
}

/**
 * Returns the refusal of a request that failed before policy was evaluated, because of an invalid folder, variable or
 * deadline, or an exceeded quota.
 */
export function requestFailed({ type, message, recovery }: SallyportError): Refusal {
  const hints = recovery.map((each) => ({ ...each, hint: short(each.hint) }));
  return { status: "failed", error: { type, message: short(message), recovery: hints } };
}

/** Shortens a text that quotes the request: it may be megabytes long and is stored with the session (invariant 6). */
function short(text: string): string {
  if (text.length <= MOST_QUOTED_CHARACTERS) return text;
  return `${text.slice(0, MOST_QUOTED_CHARACTERS).toWellFormed()}… [${text.length - MOST_QUOTED_CHARACTERS} more characters]`;
}

export function changedAfterApproval(): Refusal {
  const message = "Denied: the files of the command kept changing after it was approved.";
  const hint = "Wait until the program, script or folder is no longer being modified, then submit the command again.";
  return { status: "denied", error: { type: "CommandDenied", message, recovery: [{ action: "retry", hint }] } };
}

/** `why` says why the caller does not wait, if it is not because of a timeout. */
export function approvalPending(approval: Approval, why: string | null = null): Refusal {
  return {
    status: "pending",
    error: {
      type: "ApprovalPending",
      message: [approvalRequired(approval), "Nothing has run yet.", ...(why ? [why] : [])].join(" "),
      recovery: [nextStep("approve", { name: "decide-approval" }), nextStep("retry", { name: "repeat-request" })],
    },
  };
}

/**
 * Says why approval is required. The text may reach a model, so it does not have the ID, with which the request could be
 * approved on the command line of a host that has its own shell (invariant 7).
 */
function approvalRequired({ expiresAt, request: { reasons } }: Approval): string {
  const [reason] = reasons;
  const why = reason ? ` ${reason.message.replace(/\.$/, "")} (${reason.rule}).` : "";
  return `Approval required.${why} The request is pending until ${expiresAt}.`;
}

/** Returns the refusal of input that a person has not approved yet. */
export function inputPending(approval: Approval, why: string | null): Refusal {
  const { status, error } = approvalPending(approval);
  const [approve] = error.recovery;
  const retry = nextStep("retry", { name: "repeat-input" });
  const parts = [approvalRequired(approval), "The session has not received this input.", ...(why ? [why] : [])];
  const message = parts.join(" ");
  return { status, error: { ...error, message, recovery: [...(approve ? [approve] : []), retry] } };
}

/** Returns a worker's refusal: its own policy requires approval, and it accepts no attestation of the job. */
export function attestationMissing({ reasons }: Verdict, { message, recovery }: SallyportError): Refusal {
  const [reason] = reasons;
  const why = reason ? ` ${reason.message.replace(/\.$/, "")} (${reason.rule}).` : "";
  return {
    status: "denied",
    error: {
      type: "StatementRefused",
      message: `Denied by the worker: its policy requires approval for this command.${why} ${message}`,
      recovery: [
        ...recovery,
        operatorStep("ask_here", 'Submit the request with `ask: "always"` to request approval at the gateway.'),
      ],
    },
  };
}

/** Returns the reason for refusing input whose final text cannot be derived from the bytes. */
export function unknowableInput(): Reason {
  return {
    rule: "unanalyzable",
    message:
      "The input was edited, completed, recalled from the history or not valid text, so what the program reads is not known.",
    span: null,
    suggestion: "Write the whole command as plain text, without Tab, arrow or control keys and without `!`.",
  };
}

/** Returns the result of a run that was refused: nothing was started. */
export function refusedResult(
  {
    name,
    session,
    verdict,
    approvalId,
  }: Pick<RunResult, "name" | "verdict" | "approvalId"> & { session: SessionFields },
  refusal: Refusal,
): RunResult {
  const nothing = { exitCode: null, signal: null, stdout: "", stderr: "", output: "", durationMs: 0, timedOut: false };
  return {
    id: session.id,
    name,
    status: refusal.status,
    ...nothing,
    truncated: { stdout: 0, stderr: 0 },
    leftover: 0,
    resourceUsage: null,
    verdict,
    approvalId,
    sandbox: sandboxLabel(decodeSnapshot(session.sandbox)),
    warnings: [],
    hints: [],
    error: refusal.error,
  };
}
