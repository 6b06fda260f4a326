import { LONGEST_TIMEOUT_MS } from "../core/clock.ts";
import { SallyportError } from "../core/error.ts";

/** Refuses what is not a time: it would reach the keeper as something else, or not at all. */
export function insistOnMilliseconds(option: string, value: unknown, hint: string): void {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LONGEST_TIMEOUT_MS) return;
  const message = `\`${option}\` must be a whole number of milliseconds from 0 to ${LONGEST_TIMEOUT_MS}; received ${String(value)}.`;
  throw new SallyportError("InvalidRequest", message, [{ action: "fix_request", hint }]);
}
