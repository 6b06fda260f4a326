import type { Recovery } from "../core/error.ts";
import { LIBRARY_WORDING, type Wording, worded } from "../core/next-step.ts";
import { visibleLines } from "./visible.ts";

export interface Failure {
  type: string;
  message: string;
  recovery: readonly Recovery[];
}

/**
 * Formats an error as text: the message, then one line per hint. Messages may quote paths, names and file contents
 * from an agent, so control characters are escaped.
 */
export function failureText(failure: Failure, wording: Wording = LIBRARY_WORDING): string {
  const hints = worded(failure.recovery, wording).map(({ hint }) => `  ${hint}`);
  return visibleLines([`sallyport: ${failure.message}`, ...hints].join("\n"));
}

export function failureJson({ type, message, recovery }: Failure, wording: Wording): string {
  return JSON.stringify({ error: { type, message, recovery: worded(recovery, wording) } });
}
