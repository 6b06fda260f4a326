import type { Recovery } from "../contract/error.ts";

export interface Failure {
  type: string;
  message: string;
  recovery: readonly Recovery[];
}

/** What went wrong on one line, then what to do about it, a line each. */
export function failureText(failure: Failure): string {
  return [`sallyport: ${failure.message}`, ...failure.recovery.map(({ hint }) => `  ${hint}`)].join("\n");
}

export function failureJson({ type, message, recovery }: Failure): string {
  return JSON.stringify({ error: { type, message, recovery } });
}
