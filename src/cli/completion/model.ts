import type { Command } from "../command.ts";
import { describeOptions } from "../help-model.ts";
import { GLOBAL_HELP, GLOBAL_OPTIONS } from "../parse.ts";

/** The command line as plain data, from which the completion script of each shell is generated. */
export interface Completions {
  options: CompletedOption[];
  commands: CompletedCommand[];
}

export interface CompletedCommand {
  name: string;
  summary: string;
  options: CompletedOption[];
  /** Fixed values of the first positional argument. */
  words: readonly string[];
  /** The kind of positional arguments that are looked up at completion time. */
  live: Live | null;
  /** Whether the positional arguments are another command line. */
  takesCommandLine: boolean;
}

export interface CompletedOption {
  long: string;
  short: string | null;
  meaning: string;
  /** Null when the option takes no value, empty when it takes any value. */
  choices: readonly string[] | null;
}

export type Live = "running sessions" | "sessions" | "approvals" | "tokens";

/** The commands that the scripts call. Their output is tab-separated in a pipe, and the scripts never evaluate it. */
export const LIVE: Record<Live, { command: string; columns: string }> = {
  "running sessions": { command: "sallyport ps", columns: "2,1" },
  sessions: { command: "sallyport ps -a --limit 200", columns: "2,1" },
  approvals: { command: "sallyport approvals", columns: "1" },
  tokens: { command: "sallyport token list", columns: "2" },
};

/** Commands that only apply to running sessions. */
const FOR_THE_RUNNING = new Set(["attach", "kill", "send-keys", "stats", "wait"]);

export function completions(commands: Command[]): Completions {
  return { options: optionsOf(GLOBAL_OPTIONS, GLOBAL_HELP, {}), commands: commands.map(completed) };
}

function completed(command: Command): CompletedCommand {
  const { name, summary, choices = {}, actions = {}, takesCommandLine = false } = command;
  const options = { ...command.options, ...GLOBAL_OPTIONS };
  const help = { ...GLOBAL_HELP, ...command.help };
  return {
    name,
    summary,
    options: optionsOf(options, help, choices),
    words: Object.keys(actions),
    live: liveOf(command),
    takesCommandLine,
  };
}

function optionsOf(
  options: Command["options"],
  help: Record<string, string>,
  choices: Record<string, readonly string[]>,
): CompletedOption[] {
  return describeOptions(options, help).map(({ long, short, value, meaning }) => ({
    long,
    short,
    meaning,
    choices: value === null ? null : (choices[long] ?? []),
  }));
}

function liveOf({ name, usage }: Command): Live | null {
  if (/\bSESSION\b/.test(usage)) return FOR_THE_RUNNING.has(name) ? "running sessions" : "sessions";
  if (name === "approvals" || name === "approve" || name === "deny") return "approvals";
  return name === "token" ? "tokens" : null;
}
