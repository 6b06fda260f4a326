import type { Recovery } from "../core/error.ts";
import { truncateMiddle } from "../text/truncate.ts";
import { forModel } from "./next-steps.ts";
import type { ToolFailure } from "./tool.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A contract's name for an error type, and the recovery actions that the contract defines for it. */
interface FailureMapping {
  type?: string;
  /**
   * The contract's recovery actions. Where the failure has the same action, its own hint is used, which knows the cause.
   * Suggestions come first, and Sallyport's other actions last.
   */
  recovery: readonly Recovery[];
  /** True to omit Sallyport's own recovery hints. */
  only?: boolean;
}

/** Whether a recovery names what the caller probably meant. */
const isSuggestion = ({ action }: Recovery): boolean => action === "did_you_mean" || action === "use_shell";

/**
 * Returns a function that translates a failure to the terms of a contract: next steps and parameter names in the words of
 * the toolset, then the error types and recovery actions of `table`.
 */
export function failureMapper(
  table: Readonly<Record<string, FailureMapping>>,
  words: Vocabulary,
): (failure: ToolFailure) => ToolFailure {
  return (original) => {
    const failure = forModel(original, words);
    const entry = Object.hasOwn(table, failure.type) ? table[failure.type] : undefined;
    if (!entry) return failure;
    const ours = entry.only ? [] : failure.recovery;
    const named = entry.recovery.map((own) => ours.find(({ action }) => action === own.action) ?? own);
    const others = ours.filter(({ action }) => !entry.recovery.some((own) => own.action === action));
    const [likely, rest] = [others.filter(isSuggestion), others.filter((other) => !isSuggestion(other))];
    return { ...failure, type: entry.type ?? failure.type, recovery: [...likely, ...named, ...rest] };
  };
}

/** Messages can quote arguments, which may be megabytes long. */
const MESSAGE_BYTES = 4096;
const HINT_BYTES = 1024;
const MAX_RECOVERY = 10;

/** Limits the size of a failure that is shown to a model (invariant 6). */
export function truncateFailure({ type, message, recovery }: ToolFailure): ToolFailure {
  const short = (text: string, maxBytes: number) => truncateMiddle(text, { maxBytes }).text;
  return {
    type,
    message: short(message, MESSAGE_BYTES),
    recovery: recovery.slice(0, MAX_RECOVERY).map(({ action, hint }) => ({ action, hint: short(hint, HINT_BYTES) })),
  };
}

export function toolsetDisabled(toolset: string): ToolFailure {
  return {
    type: "CommandDenied",
    message: `The toolset \`${toolset}\` is disabled.`,
    recovery: [
      {
        action: "ask_operator",
        hint: `Ask the operator to enable it with \`toolsets.${toolset}\` in sallyport.json.`,
      },
    ],
  };
}

/** Returns the message and the error type, followed by one line per recovery action. */
export function failureText({ type, message, recovery }: ToolFailure): string {
  const sentence = /[.!?…)\]"'`]$/.test(message) ? message : `${message}.`;
  return [`${sentence} [${type}]`, ...recovery.map(({ action, hint }) => `- ${action}: ${hint}`)].join("\n");
}

export function cancelled(): ToolFailure {
  return {
    type: "Cancelled",
    message: "The call was cancelled before the command started. Nothing has run.",
    recovery: [{ action: "retry", hint: "Call the tool again if the command is still needed." }],
  };
}

export function missingArgument(action: string, name: string) {
  return {
    type: "InvalidRequest",
    message: `The action \`${action}\` requires \`${name}\`.`,
    recovery: [{ action: "fix_request", hint: `Pass \`${name}\` with action: "${action}".` }],
  };
}
