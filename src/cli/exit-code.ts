import { constants } from "node:os";
import type { SessionInfo } from "../core/session.ts";

export const EXIT_TIMEOUT = 124;
export const EXIT_FAILED = 125;
export const EXIT_REFUSED = 126;
const EXIT_NOT_FOUND = 127;
/** Added to the number of the signal that ended a command, as in a shell. */
export const EXIT_SIGNAL = 128;

/** Returns the exit code that reports the outcome of a command to a shell. */
export function exitCodeOf(outcome: Pick<SessionInfo, "status" | "exitCode" | "signal" | "error">): number {
  if (outcome.status === "failed" && outcome.error) return exitCodeOfError(outcome.error.type);
  switch (outcome.status) {
    case "timed_out":
      return EXIT_TIMEOUT;
    case "blocked":
    case "denied":
    case "pending":
      return EXIT_REFUSED;
    default:
      if (outcome.signal) return EXIT_SIGNAL + constants.signals[outcome.signal];
      return outcome.exitCode ?? EXIT_FAILED;
  }
}

const REFUSALS = [
  "PermissionDenied",
  "CommandBlocked",
  "CommandDenied",
  "ApprovalPending",
  "SelfApproval",
  "NotAnApprover",
];

export function exitCodeOfError(type: string): number {
  if (type === "CommandNotFound") return EXIT_NOT_FOUND;
  return REFUSALS.includes(type) ? EXIT_REFUSED : EXIT_FAILED;
}
