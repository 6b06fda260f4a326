import type { Recovery } from "../../core/error.ts";
import { truncateMiddle } from "../../text/truncate.ts";

interface Failure {
  type: string;
  message: string;
  recovery: readonly Recovery[];
}

/** A caller's own words may be megabytes long, and are repeated in what is told about them. */
const MESSAGE_BYTES = 4096;
const HINT_BYTES = 1024;
const MOST_WAYS = 10;

/** Short enough for a model, whatever it is about (promise 6). */
export function cappedFailure({ type, message, recovery }: Failure): Failure {
  const short = (text: string, maxBytes: number) => truncateMiddle(text, { maxBytes }).text;
  return {
    type,
    message: short(message, MESSAGE_BYTES),
    recovery: recovery.slice(0, MOST_WAYS).map(({ action, hint }) => ({ action, hint: short(hint, HINT_BYTES) })),
  };
}

export function switchedOff(toolset: string): Failure {
  return {
    type: "CommandDenied",
    message: `The toolset ${toolset} is switched off here.`,
    recovery: [
      { action: "ask_operator", hint: `The operator can switch it on: \`toolsets.${toolset}\` in sallyport.json.` },
    ],
  };
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
