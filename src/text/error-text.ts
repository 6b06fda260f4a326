import type { Recovery } from "../core/error.ts";
import { visibleLines } from "./visible.ts";

export interface Failure {
  type: string;
  message: string;
  recovery: readonly Recovery[];
}

/**
 * What went wrong on one line, then what to do about it, a line each. Messages quote paths, names, and words of files
 * that an agent may have written: nothing in them acts on the terminal they are printed to.
 */
export function failureText(failure: Failure): string {
  return visibleLines([`sallyport: ${failure.message}`, ...failure.recovery.map(({ hint }) => `  ${hint}`)].join("\n"));
}

export function failureJson({ type, message, recovery }: Failure): string {
  return JSON.stringify({ error: { type, message, recovery } });
}
