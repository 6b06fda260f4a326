import { SallyportError } from "../contract/error.ts";

/** As in a request: about 68 years. */
const LONGEST_MS = 2_147_483_647_000;

/** Refuses what is not a time: it would reach the keeper as something else, or not at all. */
export function insistOnMilliseconds(option: string, value: unknown, hint: string): void {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LONGEST_MS) return;
  const message = `\`${option}\` must be a whole number of milliseconds from 0 to ${LONGEST_MS}; received ${String(value)}.`;
  throw new SallyportError("InvalidRequest", message, [{ action: "fix_request", hint }]);
}
