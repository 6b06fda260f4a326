import type { CommandFact } from "../core/facts.ts";
import type { RunRequest } from "../core/request.ts";
import { SHELLS } from "./commands/shells.ts";
import { readsTerminal } from "./reads-terminal.ts";
import { type CommandLine, PAGERS, WANTS_TERMINAL } from "./terminal-programs.ts";

const SHELL_NAMES: ReadonlySet<string> = new Set(SHELLS);

/** Whether `auto` means a terminal for this request. A text given to read is for a program that takes no keys. */
export function mayHaveTerminal({ stdin }: Pick<RunRequest, "stdin">, commands: readonly CommandFact[]): boolean {
  return typeof stdin !== "object" && needsTerminal(commands);
}

/** Whether one of these commands can do its work only on a terminal. */
export function needsTerminal(commands: readonly CommandFact[]): boolean {
  return commands.some((fact, index) => wantsTerminal(fact, index === commands.length - 1));
}

function wantsTerminal(fact: CommandFact, isLast: boolean): boolean {
  const name = fact.executable.name;
  if (name === null || fact.remote || fact.background || !isSeen(fact)) return false;
  const argv = fact.argv.map(({ value, prefix }) => value ?? prefix);
  if (PAGERS.has(name)) return isLast; // `git log | less`: it reads one thing and asks for keys on another
  if (fact.piped || readsElsewhere(fact)) return false;
  if (SHELL_NAMES.has(name)) return readsTerminal(argv);
  const wants = WANTS_TERMINAL.get(name) ?? WANTS_TERMINAL.get(name.replace(/[\d.]+$/, ""));
  return wants?.(commandLine(argv)) ?? false;
}

/** `vim x > log`: nobody would see it. */
function isSeen({ redirects }: CommandFact): boolean {
  return !redirects.some(({ kind, fd }) => (kind === "write" || kind === "append") && (fd === null || fd === 1));
}

function readsElsewhere({ redirects }: CommandFact): boolean {
  return redirects.some(({ kind, fd }) => (kind === "read" || kind === "here") && (fd === null || fd === 0));
}

function commandLine(argv: readonly string[]): CommandLine {
  const rest = argv.slice(1);
  const end = rest.indexOf("--");
  const before = end < 0 ? rest : rest.slice(0, end);
  const options = before.filter((word) => /^-./.test(word));
  const words = [...before.filter((word) => !/^-./.test(word)), ...(end < 0 ? [] : rest.slice(end + 1))];
  return {
    words,
    operands: (withValue) => words.filter((word) => !isValue(before, word, withValue)),
    has: (...wanted) => wanted.some((option) => options.some((given) => isOption(given, option))),
  };
}

function isValue(before: readonly string[], word: string, withValue: string): boolean {
  const option = before[before.indexOf(word) - 1] ?? "";
  return /^-[A-Za-z0-9]$/.test(option) && withValue.includes(option.slice(1));
}

function isOption(given: string, wanted: string): boolean {
  if (given === wanted || given.startsWith(`${wanted}=`)) return true;
  // `-it` is `-i -t`; `-mtext` is `-m text`.
  return (
    /^-[^-]$/.test(wanted) && /^-[^-]/.test(given) && /^-[A-Za-z0-9]+$/.test(given) && given.includes(wanted.slice(1))
  );
}
