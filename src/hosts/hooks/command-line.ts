import { quoteArgv, quoteWord, splitWords } from "../../shell/quote.ts";
import type { HookFormat } from "./format.ts";

/** How a host starts its hook. */
export interface HookProgram {
  /** The program with its arguments. */
  argv: readonly string[];
  /** Variables of the program, in addition to those of the host. */
  env: Readonly<Record<string, string>>;
}

/** A hook that was found in the configuration of a host. */
export interface FoundHook extends HookProgram {
  /** Whether a failure of the program denies the command. */
  failsClosed: boolean;
}

/** A hook that is a file of its own. */
export interface HookScript {
  /** Returns the text of the file. It contains `WRITTEN_BY`. */
  write(program: HookProgram): string;
  /** Reads such a file. Null when it does not run `sallyport hook HOST`. */
  read(text: string): FoundHook | null;
}

/** Marks files that belong to `sallyport setup` as a whole. */
export const WRITTEN_BY = "Written by `sallyport setup`";

/**
 * Returns the command line for the configuration of a host. If the hook program is missing or was killed, the shell
 * denies in its place: most hosts take such a failure for consent.
 */
export function hookCommandLine(format: HookFormat, { argv, env }: HookProgram): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quoteWord(value)} `);
  return `${variables.join("")}${quoteArgv(argv)}${denialOf(format)}`;
}

/** Reads a command line. Null when it is not that of `sallyport hook HOST`. */
export function readHookCommandLine(format: HookFormat, text: string): FoundHook | null {
  const otherwise = denialOf(format);
  const failsClosed = text.endsWith(otherwise);
  const words = splitWords(failsClosed ? text.slice(0, -otherwise.length) : text) ?? [];
  const first = words.findIndex((word) => !/^\w+=/.test(word));
  const argv = words.slice(first);
  if (first < 0 || argv[2] !== "hook" || argv[3] !== format.name) return null;
  const env = Object.fromEntries(words.slice(0, first).map((word) => variableOf(word)));
  return { argv, env, failsClosed };
}

function denialOf({ failure }: HookFormat): string {
  const said = [
    ...(failure.stdout ? [`printf '%s\\n' ${quoteWord(failure.stdout.trim())}`] : []),
    ...(failure.stderr ? [`echo ${quoteWord(failure.stderr.trim())} >&2`] : []),
  ];
  // The hook has given its reason when it exits with the code for a refusal.
  const otherwise =
    failure.code === 0 ? said.join("; ") : `[ $? -eq ${failure.code} ] || ${said.join("; ")}; exit ${failure.code}`;
  return ` || { ${otherwise}; }`;
}

function variableOf(word: string): [name: string, value: string] {
  const at = word.indexOf("=");
  return [word.slice(0, at), word.slice(at + 1)];
}
