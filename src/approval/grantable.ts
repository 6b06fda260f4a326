/** What a person may allow for good, and why the rest can only be allowed once. */
import { basename } from "node:path";
import type { Grantable, GrantTarget } from "../core/approval.ts";
import type { CommandFact } from "../core/facts.ts";
import type { Verdict } from "../core/policy.ts";
import { familyOf, INTERPRETERS, PRIVILEGED, RUNNERS, SHELLS, WRAPPERS } from "./programs.ts";

/** Both an `Analysis` and a `Verdict` have these. */
export type CommandFacts = Pick<Verdict, "analyzable" | "commands">;

export interface GrantContext {
  /** Programs inside it are the agent's to change. */
  workspace: string;
  /** Names of variables added to the environment, and whether text is given on stdin: a grant remembers neither. */
  addedEnv?: readonly string[];
  stdin?: boolean;
}

/** Builtins that neither run nor change anything a later command depends on, `cd` aside: where it leads is in the facts. */
const HARMLESS_BUILTINS = new Set([
  "cd",
  "echo",
  "printf",
  "true",
  "false",
  ":",
  "test",
  "[",
  "[[",
  "pwd",
  "wait",
  "exit",
]);

const SCRATCH = ["/tmp", "/var/tmp", "/dev/shm"];

/** Whether "always" can be offered, and for exactly which commands. Every one of a text must pass. */
export function grantable(facts: CommandFacts, scene: GrantContext): Grantable {
  if (scene.addedEnv && scene.addedEnv.length > 0) return no("it comes with variables of its own");
  if (scene.stdin) return no("it comes with input of its own");
  const commands: GrantTarget[] = [];
  for (const fact of facts.commands) {
    const why = objection(fact, scene);
    if (why !== null) return no(why);
    const target = targetOf(fact);
    if (target !== null) commands.push(target);
  }
  if (!facts.analyzable) return no("it cannot be known completely what would run");
  return commands.length > 0 ? { ok: true, commands } : no("it runs no program");
}

function no(why: string): Grantable {
  return { ok: false, why };
}

function targetOf(fact: CommandFact): GrantTarget | null {
  const { resolved, kind } = fact.executable;
  if (kind !== "external" || resolved === null || fact.cwd === null) return null;
  const args = fact.argv.slice(1).map(({ value }) => value ?? "");
  return { executable: resolved, args, cwd: fact.cwd, piped: fact.piped };
}

/** Why this command cannot be granted; null: it can. */
function objection(fact: CommandFact, scene: GrantContext): string | null {
  const name = fact.executable.name ?? "a command";
  if (fact.wrapper || fact.via.length > 0) return `${fact.via[0] ?? name} runs whatever it is given`;
  if (fact.remote) return `${name} runs elsewhere`;
  if (fact.assignments.length > 0) return `it sets the variable ${fact.assignments[0]?.name}`;
  if (fact.redirects.some(reachesFile)) return "it redirects to or from a file";
  if (fact.argv.some((word) => word.value === null || word.glob)) return "its arguments are only known when it runs";
  return programObjection(fact, name, scene) ?? unknownObjection(fact, name);
}

function unknownObjection({ unknowns: [unknown], opaque }: CommandFact, name: string): string | null {
  if (opaque !== null) return `the code for ${name} is not analyzed`;
  return unknown?.why ?? null;
}

function programObjection(fact: CommandFact, name: string, scene: GrantContext): string | null {
  const { resolved, kind } = fact.executable;
  if (kind === "keyword") return null;
  if (kind === "builtin")
    return HARMLESS_BUILTINS.has(name) ? null : `the shell builtin ${name} changes what comes after`;
  if (kind !== "external" || resolved === null) return `${name} is not a program that can be found`;
  if (fact.cwd === null) return `the folder ${name} would run in is not known`;
  if ([scene.workspace, ...SCRATCH].some((folder) => resolved.startsWith(`${folder}/`))) {
    return `${resolved} is in a folder the agent can change`;
  }
  // By both names: a link called `tool` that leads to python is python.
  for (const each of [name, basename(resolved)]) {
    const why = familyObjection(familyOf(each), each, fact);
    if (why !== null) return why;
  }
  return null;
}

function familyObjection(family: string, name: string, fact: CommandFact): string | null {
  if (PRIVILEGED.has(family)) return `${name} gives other privileges`;
  if (SHELLS.has(family)) return `${name} is a shell`;
  if (INTERPRETERS.has(family)) return `${name} is an interpreter`;
  if (WRAPPERS.has(family)) return `${name} runs whatever it is given`;
  const harmless = RUNNERS.get(family);
  if (!harmless) return null;
  const [, subcommand] = fact.argv;
  return subcommand?.value && harmless.has(subcommand.value) ? null : `${name} runs what project files say`;
}

/** `2>&1` and `>/dev/null` reach none. */
function reachesFile({ kind, path }: CommandFact["redirects"][number]): boolean {
  return kind !== "duplicate" && path !== "/dev/null";
}
