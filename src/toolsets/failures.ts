import type { Recovery } from "../core/error.ts";
import { truncateMiddle } from "../text/truncate.ts";
import type { ToolFailure } from "./tool.ts";

/** How a contract names an error type, and the recovery actions it defines for it. */
interface FailureMapping {
  type?: string;
  /** Come first; Sallyport's own follow, except those with the same action. */
  recovery: readonly Recovery[];
  /** Leaves out Sallyport's own recovery hints, which name commands that a model may not have. */
  only?: boolean;
}

/** `parameters`: the contract's names for the fields of a request, such as `workdir` for `cwd`. */
export function failureMapper(
  table: Readonly<Record<string, FailureMapping>>,
  parameters: Readonly<Record<string, string>> = {},
): (failure: ToolFailure) => ToolFailure {
  const field = /`(\w+)(?=[.`])/g;
  const renamed = (text: string) =>
    text.replace(field, (all, name: string) => (Object.hasOwn(parameters, name) ? `\`${parameters[name]}` : all));
  return ({ type, message, recovery }) => {
    const failure = {
      type,
      message: renamed(message),
      recovery: recovery.map(({ action, hint }) => ({ action, hint: renamed(hint) })),
    };
    const entry = Object.hasOwn(table, failure.type) ? table[failure.type] : undefined;
    if (!entry) return failure;
    const names = new Set(entry.recovery.map(({ action }) => action));
    const ours = entry.only ? [] : failure.recovery.filter(({ action }) => !names.has(action));
    return { ...failure, type: entry.type ?? failure.type, recovery: [...entry.recovery, ...ours] };
  };
}

/** Messages repeat arguments, which may be megabytes long. */
const MESSAGE_BYTES = 4096;
const HINT_BYTES = 1024;
const MAX_RECOVERY = 10;

/** Limits the size of a failure that is shown to a model (promise 6). */
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
    message: `The toolset ${toolset} is switched off here.`,
    recovery: [
      { action: "ask_operator", hint: `The operator can switch it on: \`toolsets.${toolset}\` in sallyport.json.` },
    ],
  };
}

/** The message, then one line per recovery, the action first. */
export function failureText({ type, message, recovery }: ToolFailure): string {
  return [`${type}: ${message}`, ...recovery.map(({ action, hint }) => `- ${action}: ${hint}`)].join("\n");
}

export function cancelled(): ToolFailure {
  return {
    type: "Cancelled",
    message: "The call was cancelled before its command was started; nothing has run.",
    recovery: [{ action: "retry", hint: "Call it again if it is still wanted." }],
  };
}

export function missingArgument(action: string, name: string) {
  return {
    type: "InvalidRequest",
    message: `\`${name}\` is required for the action ${action}.`,
    recovery: [{ action: "fix_request", hint: `Give \`${name}\` with action: "${action}".` }],
  };
}
