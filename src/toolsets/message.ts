import type { RunResult } from "../core/result.ts";
import type { SessionInfo } from "../core/session.ts";
import { sessionLost } from "../session/lost.ts";
import { exitCodeMessage } from "./messages/exit-code.ts";
import { failureMessage } from "./messages/failure.ts";
import { killedMessage } from "./messages/killed.ts";
import { leftoverMessage } from "./messages/leftover.ts";
import { pendingMessage, refusalMessage } from "./messages/refusal.ts";
import { signalMessage } from "./messages/signal.ts";
import { timeoutMessage } from "./messages/timeout.ts";

export type Outcome = RunResult | SessionInfo;

/** What the outcome itself does not say. */
export interface Known {
  /** The deadline that was missed; a session knows its own. */
  timeoutMs?: number;
  /** Who asked for the end, as a reader knows them: `agent builder`, `the operator`. */
  killedBy?: string;
}

/**
 * What became of a command and what to do about it, in one or two sentences for a model or a person. Null: it ended
 * well, or has not ended.
 *
 * Of several causes the first that holds is told, in this order: blocked, denied, waiting for approval, timeout,
 * killed, then a failure of the command's start, its keeper or its limits, signal, exit code. What comes first explains
 * what comes later: a command that timed out was ended by a signal, too.
 *
 * @example
 * messageFor(await gateway.run({ command: "make" })); // "Exit code 2; stderr says why."
 */
export function messageFor(outcome: Outcome, known: Known = {}): string | null {
  const main = causeOf(outcome, known);
  const parts = [main, leftoverMessage(outcome), ...outcome.hints.map(asSentence)].filter((part) => part !== null);
  return parts.length > 0 ? parts.join(" ") : null;
}

/** What probably was the matter with a command that ran into its sandbox. */
function asSentence(hint: string): string {
  return `${hint[0]?.toUpperCase()}${hint.slice(1)}.`;
}

function causeOf(outcome: Outcome, known: Known): string | null {
  switch (outcome.status) {
    case "blocked":
    case "denied":
      return refusalMessage(outcome, outcome.status);
    case "pending":
      return pendingMessage(outcome);
    case "timed_out":
      return timeoutMessage(outcome, known.timeoutMs);
    case "running":
      return null;
    case "killed":
      if (outcome.error) return failureMessage(outcome.error);
      return killedMessage(outcome, known.killedBy);
    case "lost":
      return failureMessage(outcome.error ?? sessionLost());
    default:
      if (outcome.error) return failureMessage(outcome.error);
      return outcome.signal ? signalMessage(outcome) : exitCodeMessage(outcome);
  }
}
