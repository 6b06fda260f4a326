import type { Analysis, CommandFact, Word } from "../../src/contract/facts.ts";
import type { Execution } from "./differential-bash.ts";

/** What bash ran and the analysis neither found nor marked unknowable. */
export function missed(analysis: Analysis, executions: readonly Execution[]): Execution[] {
  if (!analysis.analyzable) return [];
  return executions.filter((execution) => !analysis.commands.some((fact) => explains(fact, execution)));
}

function explains(fact: CommandFact, [name, ...args]: Execution): boolean {
  // A command word that is not known is marked as such, and may be anything.
  if (fact.executable.name === null) return true;
  return fact.executable.name === name && accepts(fact.argv.slice(1), args);
}

/** Known words stand for exactly themselves; an unknown one for any number of arguments, the first with its prefix. */
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
