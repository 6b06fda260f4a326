import type { Command } from "../command.ts";
import { GLOBAL_HELP, GLOBAL_OPTIONS } from "../parse.ts";

/** What can be typed after `sallyport`, as plain data: each shell's script and the man page are made from it. */
export interface Completions {
  options: CompletedOption[];
  commands: CompletedCommand[];
}

export interface CompletedCommand {
  name: string;
  summary: string;
  options: CompletedOption[];
  /** What may stand where no option is: its own words, or what can be asked for at that moment. */
  words: readonly string[];
  live: Live | null;
  /** A command line of its own follows. */
  takesCommandLine: boolean;
}

export interface CompletedOption {
  long: string;
  short: string | null;
  meaning: string;
  /** Null: it takes no value. Empty: any value. */
  choices: readonly string[] | null;
}

export type Live = "running sessions" | "sessions" | "approvals" | "tokens";

/** How each shell asks. Piped, these print tab-separated columns; nothing of what they print is ever evaluated. */
export const LIVE: Record<Live, { command: string; columns: string }> = {
  "running sessions": { command: "sallyport ps", columns: "2,1" },
  sessions: { command: "sallyport ps -a --limit 200", columns: "2,1" },
  approvals: { command: "sallyport approvals", columns: "1" },
  tokens: { command: "sallyport token list", columns: "2" },
};

/** These are of no use once a session has ended. */
const FOR_THE_RUNNING = new Set(["attach", "kill", "send-keys", "stats", "wait"]);

export function completions(commands: Command[]): Completions {
  return { options: optionsOf(GLOBAL_OPTIONS, GLOBAL_HELP, {}), commands: commands.map(completed) };
}

function completed(command: Command): CompletedCommand {
  const { name, summary, choices = {}, actions = [], takesCommandLine = false } = command;
  const options = { ...command.options, ...GLOBAL_OPTIONS };
  const help = { ...GLOBAL_HELP, ...command.help };
  return {
    name,
    summary,
    options: optionsOf(options, help, choices),
    words: actions,
    live: liveOf(command),
    takesCommandLine,
  };
}

function optionsOf(
  options: Command["options"],
  help: Record<string, string>,
  choices: Record<string, readonly string[]>,
): CompletedOption[] {
  return Object.entries(options).map(([long, { type, short }]) => ({
    long,
    short: short ?? null,
    meaning: (help[long] ?? "").replace(/^[A-Z][A-Z=:|]*: /, ""),
    choices: type === "boolean" ? null : (choices[long] ?? []),
  }));
}

function liveOf({ name, usage }: Command): Live | null {
  if (/\bSESSION\b/.test(usage)) return FOR_THE_RUNNING.has(name) ? "running sessions" : "sessions";
  if (name === "approvals" || name === "approve" || name === "deny") return "approvals";
  return name === "token" ? "tokens" : null;
}
