import type { Approval } from "../core/approval.ts";
import { type ErrorType, type Recovery, SallyportError } from "../core/error.ts";
import type { Reason, Verdict } from "../core/policy.ts";
import type { RunResult } from "../core/result.ts";
import { sandboxLabel } from "../sandbox/describe.ts";
import { decodeSnapshot } from "../sandbox/snapshot.ts";
import type { SessionFields } from "../storage/sessions.ts";

/** Why a command was not run, as its result says it. */
export interface Refusal {
  status: "blocked" | "denied" | "pending" | "failed";
  error: { type: ErrorType; message: string; recovery: readonly Recovery[] };
}

const MOST_QUOTED_CHARACTERS = 16 << 10;

const REPORT: Recovery = {
  action: "report",
  hint: "Report this to the user; do not try to get around it by writing the command differently.",
};

export function commandRefused({ verdict, reasons }: Verdict): Refusal {
  const blocked = verdict === "blocked";
  const [reason] = reasons;
  const why = reason ? quoteReason(reason) : "this command is not allowed.";
  const recovery = reasons.flatMap(({ suggestion }) =>
    suggestion ? [{ action: "use_alternative", hint: suggestion }] : [],
  );
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

export function approvalDenied({ id, status, decisions }: Approval): Refusal {
  const no = decisions.find(({ decision }) => decision === "deny");
  const who = no ? `${no.who} said no${no.reason ? `: ${no.reason}` : "."}` : "nobody answered in time.";
  const message = status === "expired" ? `Denied: ${who}` : `Denied by a person: ${who}`;
  return {
    status: "denied",
    error: {
      type: "CommandDenied",
      message,
      recovery: [{ action: "approval", hint: `It was approval ${id}.` }, REPORT],
    },
  };
}

/** It was not even judged: its folder, variables or deadline are not to be had, or the agent has too much running. */
export function requestFailed({ type, message, recovery }: SallyportError): Refusal {
  const hints = recovery.map(({ action, hint }) => ({ action, hint: short(hint) }));
  return { status: "failed", error: { type, message: short(message), recovery: hints } };
}

/** It quotes what was asked for, which may be megabytes long and is kept with the session (promise 6). */
function short(text: string): string {
  if (text.length <= MOST_QUOTED_CHARACTERS) return text;
  return `${text.slice(0, MOST_QUOTED_CHARACTERS).toWellFormed()}… [${text.length - MOST_QUOTED_CHARACTERS} more characters]`;
}

/** Nothing here can confine it, and the operator would rather have nothing run then. */
export function sandboxUnavailable(): SallyportError {
  const message = "Nothing on this machine can confine a command, and the configuration requires it (`require`).";
  return new SallyportError("SandboxUnavailable", message, [
    { action: "check_sandbox", hint: "See what is missing and how to get it: sallyport doctor" },
    { action: "ask_operator", hint: "The operator can take `require` out of the configuration." },
  ]);
}

export function changedAfterApproval(): Refusal {
  const message = "Denied: what would run kept changing after it was approved.";
  const hint = "Let whatever rewrites the program, script or folder finish, then ask again.";
  return { status: "denied", error: { type: "CommandDenied", message, recovery: [{ action: "retry", hint }] } };
}

export function approvalPending({ id, expiresAt }: Approval): Refusal {
  return {
    status: "pending",
    error: {
      type: "ApprovalPending",
      message: `A person has to approve this first (approval ${id}, until ${expiresAt}). Nothing has run yet.`,
      recovery: [
        { action: "approve", hint: `A person decides with: sallyport approve ${id} (or sallyport deny ${id}).` },
        { action: "retry", hint: "Ask for exactly the same command again afterwards; the approval is used then." },
      ],
    },
  };
}

/** A worker's own operator wants it asked, and no word of a person came with it that counts there. */
export function attestationMissing({ reasons }: Verdict, { message, recovery }: SallyportError): Refusal {
  const [reason] = reasons;
  const why = reason ? ` ${reason.message.replace(/\.$/, "")} (${reason.rule}).` : "";
  return {
    status: "denied",
    error: {
      type: "StatementRefused",
      message: `Denied where it would have run: it needs a person's yes there.${why} ${message}`,
      recovery: [
        ...recovery,
        { action: "ask_here", hint: '`ask: "always"` with the request has a person asked at the gateway.' },
      ],
    },
  };
}

/** Why a line that was typed is not known, although all its keys are. */
export function unknowableLine(): Reason {
  return {
    rule: "unanalyzable",
    message: "The typed line was edited, completed or recalled from the history, so its text is not known.",
    span: null,
    suggestion: "Type the whole command without Tab, arrow or control keys.",
  };
}

/** What a run that was not let through resolves to: nothing ran. */
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
