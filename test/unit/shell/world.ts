/** Helpers that analyze text in a fixed context, in which every name is a program and no path contains a link. */
import type { Analysis, CommandFact } from "../../../src/core/facts.ts";
import { type InspectContext, inspect } from "../../../src/shell/inspect.ts";

export const CONTEXT: InspectContext = {
  cwd: "/home/user/ws",
  home: "/home/user",
  workspace: "/home/user/ws",
  env: { USER: "user" },
  lookup: { which: (name) => (name.includes("/") ? name : `/usr/bin/${name}`), realpath: (path) => path },
};

export function analyze(text: string): Analysis {
  return inspect(text, CONTEXT);
}

/** Returns the arguments of the commands found, with `?` for unknown ones. */
export function argvs(text: string): string[][] {
  return analyze(text)
    .commands.filter((fact) => fact.argv.length > 0)
    .map(words);
}

export function words(fact: CommandFact): string[] {
  return fact.argv.map((word) => word.value ?? "?");
}

export function find(text: string, name: string): CommandFact {
  const fact = analyze(text).commands.find((one) => one.executable.name === name);
  if (!fact) throw new Error(`no \`${name}\` in ${text}`);
  return fact;
}
