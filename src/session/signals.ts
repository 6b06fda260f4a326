import { constants } from "node:os";
import { SallyportError } from "../core/error.ts";
import type { KillRequest } from "../executor/execution.ts";
import { assertMilliseconds } from "./errors.ts";

const BY_NUMBER = new Map<number, NodeJS.Signals>();
for (const [name, number] of Object.entries(constants.signals)) {
  if (!BY_NUMBER.has(number)) BY_NUMBER.set(number, name as NodeJS.Signals);
}

/**
 * Signals that terminate a program. They are sent to the whole process tree, followed by SIGKILL after the grace
 * period.
 */
const TERMINATING = new Set(["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGKILL", "SIGABRT"]);
/** Other signals that are sent to the whole process tree. */
const WHOLE_TREE = new Set(["SIGSTOP", "SIGTSTP", "SIGCONT"]);

export function signalName(number: number): NodeJS.Signals | null {
  if (number === 0) return null;
  // Node has no names for the real-time signals.
  return BY_NUMBER.get(number) ?? (`SIGRT${number - 34 >= 0 ? `MIN+${number - 34}` : number}` as NodeJS.Signals);
}

/** Parses a signal. `SIGTERM`, `TERM`, `term` and `15` are equivalent. */
export function signalNumber(signal: string): number {
  const text = String(signal);
  const name = text.toUpperCase().replace(/^(?!SIG)/, "SIG");
  const number = /^\d+$/.test(text) ? Number(text) : (constants.signals as Record<string, number>)[name];
  if (number === undefined || number < 1 || number > 64) {
    throw new SallyportError(
      "InvalidRequest",
      `\`signal\` must be a signal name or number; received ${JSON.stringify(text)}.`,
      [{ action: "use_valid_signal", hint: "For example, use SIGTERM, SIGINT, SIGKILL or SIGUSR1." }],
    );
  }
  return number;
}

/**
 * Builds the request for a signal. Signals that end, stop or resume a process go to the whole process tree, others only
 * to the main process.
 */
export function killRequest(signal: string, graceMs: number | null): KillRequest {
  const number = signalNumber(signal);
  if (graceMs !== null)
    assertMilliseconds("graceMs", graceMs, "Use 0 to kill immediately, or null to never send SIGKILL.");
  const name = signalName(number) ?? "";
  const ends = TERMINATING.has(name);
  return {
    signal: number,
    scope: ends || WHOLE_TREE.has(name) ? "tree" : "main",
    ends,
    graceMs: ends ? graceMs : null,
  };
}
