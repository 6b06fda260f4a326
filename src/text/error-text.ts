import type { Recovery } from "../core/error.ts";
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
export function failureText(failure: Failure): string {
  return visibleLines([`sallyport: ${failure.message}`, ...failure.recovery.map(({ hint }) => `  ${hint}`)].join("\n"));
}

export function failureJson({ type, message, recovery }: Failure): string {
  return JSON.stringify({ error: { type, message, recovery } });
}
