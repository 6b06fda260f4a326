import type { Recovery } from "../../contract/error.ts";

interface Failure {
  type: string;
  message: string;
  recovery: readonly Recovery[];
}

/** What went wrong and the ways out of it, a line each, the action first: agents choose by its name. */
export function toolFailureText({ type, message, recovery }: Failure): string {
  return [`${type}: ${message}`, ...recovery.map(({ action, hint }) => `- ${action}: ${hint}`)].join("\n");
}

export function cancelled(): Failure {
  return {
    type: "Cancelled",
    message: "The call was cancelled before its command was started; nothing has run.",
    recovery: [{ action: "retry", hint: "Call it again if it is still wanted." }],
  };
}
