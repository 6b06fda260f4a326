import type { Analysis, CommandFact, Word } from "../../../../src/core/facts.ts";
import type { Observed } from "./bash.ts";

/** Returns the commands and files that bash ran or wrote, and that the analysis neither found nor marked as unknown. */
export function missed(analysis: Analysis, { executions, files }: Observed): string[][] {
  if (!analysis.analyzable) return [];
  const { commands } = analysis;
  return [
    ...executions.filter((execution) => !commands.some((fact) => explains(fact, execution))),
    ...files.filter((file) => !commands.some((fact) => mayWrite(fact, file))).map((file) => [">", file]),
  ];
}

function explains({ argv, executable }: CommandFact, [name, ...args]: readonly string[]): boolean {
  const [word, ...words] = argv;
  if (word === undefined) return false;
  // An unknown command name may be any program.
  if (word.value === null) return true;
  return executable.name === name && accepts(words, args);
}

function mayWrite({ writes, redirects }: CommandFact, file: string): boolean {
  return writes.includes(file) || redirects.some(({ kind, path }) => path === null && kind !== "here");
}

/**
 * Reports whether the words accept the arguments. A known word accepts exactly itself; an unknown one accepts any
 * number of arguments, the first of which starts with its prefix.
 */
function accepts(words: readonly Word[], args: readonly string[]): boolean {
  const [word, ...rest] = words;
  if (word === undefined) return args.length === 0;
  if (word.value !== null && !word.glob) return args[0] === word.value && accepts(rest, args.slice(1));
  if (word.prefix === "" && accepts(rest, args)) return true;
  for (let taken = 1; taken <= args.length; taken++) {
    if (!word.glob && !args[0]?.startsWith(word.prefix)) return false;
    if (accepts(rest, args.slice(taken))) return true;
  }
  return false;
}
