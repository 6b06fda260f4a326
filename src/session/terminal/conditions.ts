import { SallyportError } from "../../core/error.ts";
import type { WaitConditions } from "../../core/terminal.ts";
import { insistOnMilliseconds } from "../milliseconds.ts";

/** Refuses what could never come true, or would come true at once by mistake. */
export function insistOnConditions({ pattern, offset, quietMs, timeoutMs }: WaitConditions): void {
  if (quietMs !== undefined) insistOnMilliseconds("quietMs", quietMs, "How long nothing is to be written.");
  if (timeoutMs !== undefined) insistOnMilliseconds("timeoutMs", timeoutMs, "How long to wait at most.");
  if (pattern !== undefined && !(pattern instanceof RegExp)) throw wrong("pattern", "a regular expression");
  if (offset !== undefined && !(Number.isSafeInteger(offset) && offset >= 0)) throw wrong("offset", "a byte offset");
}

function wrong(name: string, wanted: string): SallyportError {
  return new SallyportError("InvalidRequest", `\`${name}\` must be ${wanted}.`, [
    { action: "fix_request", hint: "For example waitFor({ pattern: /\\$ $/, timeoutMs: 10_000 })." },
  ]);
}
