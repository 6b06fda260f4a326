/** Decides which commands can have a standing grant. All others can only be approved once. */
import { basename } from "node:path";
import type { Grantable, GrantTarget } from "../core/approval.ts";
import type { CommandFact } from "../core/facts.ts";
import type { Verdict } from "../core/policy.ts";
import { familyOf, INTERPRETERS, PRIVILEGED, RUNNERS, SHELLS, WRAPPERS } from "./programs.ts";

/** The fields that `Analysis` and `Verdict` have in common. */
export type CommandFacts = Pick<Verdict, "analyzable" | "commands">;

export interface GrantContext {
  /** The agent can change programs in this folder. */
  workspace: string;
  /** Names of environment variables that the request adds. A grant does not cover them. */
  addedEnv?: readonly string[];
  /** Whether the request passes text on stdin. A grant does not cover it. */
  stdin?: boolean;
}

/** Builtins that run nothing and do not affect later commands. `cd` does, but the facts already account for it. */
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

/**
 * Reports whether grants for the commands of a verdict let it run. Each reason must be that a command is not on the
 * allowlist, or that the tool asks for each command; a rule or `ask: "always"` requires approval every time. `always` is
 * offered only where this holds.
 */
export function isGrantedBy({ verdict, reasons }: Pick<Verdict, "verdict" | "reasons">): boolean {
  return verdict !== "blocked" && reasons.every(({ rule }) => MISSES.has(rule) || rule.startsWith("allowlist:"));
}

const MISSES: ReadonlySet<string> = new Set(["not-allowed", "permission-ask"]);

/** Returns whether `always` can be offered, and for which commands. Every command of a shell text must qualify. */
export function grantable(facts: CommandFacts, context: GrantContext): Grantable {
  if (context.addedEnv && context.addedEnv.length > 0) return no("the request sets environment variables");
  if (context.stdin) return no("the request passes text on stdin");
  const commands: GrantTarget[] = [];
  for (const fact of facts.commands) {
    const why = objection(fact, context);
    if (why !== null) return no(why);
    const target = targetOf(fact);
    if (target !== null) commands.push(target);
  }
  if (!facts.analyzable) return no("not everything it would run is known in advance");
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

/** Returns why a command cannot be granted, or null when it can. */
function objection(fact: CommandFact, context: GrantContext): string | null {
  const name = fact.executable.name ?? "a command";
  if (fact.wrapper || fact.via.length > 0) return `${fact.via[0] ?? name} runs other commands`;
  if (fact.remote) return `${name} runs on another machine or in a container`;
  if (fact.assignments.length > 0) return `it sets the variable ${fact.assignments[0]?.name}`;
  if (fact.redirects.some(reachesFile)) return "it redirects to or from a file";
  if (fact.argv.some((word) => word.value === null || word.glob)) return "its arguments are not known in advance";
  return programObjection(fact, name, context) ?? unknownObjection(fact, name);
}

function unknownObjection({ unknowns: [unknown], opaque }: CommandFact, name: string): string | null {
  if (opaque !== null) return `the code for ${name} is not analyzed`;
  return unknown?.why ?? null;
}

function programObjection(fact: CommandFact, name: string, context: GrantContext): string | null {
  const { resolved, kind } = fact.executable;
  if (kind === "keyword") return null;
  if (kind === "builtin")
    return HARMLESS_BUILTINS.has(name) ? null : `the shell builtin ${name} affects later commands`;
  if (kind !== "external" || resolved === null) return `the program ${name} was not found`;
  if (fact.cwd === null) return `the working directory of ${name} is not known`;
  if ([context.workspace, ...SCRATCH].some((folder) => resolved.startsWith(`${folder}/`))) {
    return `${resolved} is in a folder that the agent can write to`;
  }
  // Both names are checked: a link named `tool` may resolve to python.
  for (const each of [name, basename(resolved)]) {
    const why = familyObjection(familyOf(each), each, fact);
    if (why !== null) return why;
  }
  return null;
}

function familyObjection(family: string, name: string, fact: CommandFact): string | null {
  if (PRIVILEGED.has(family)) return `${name} changes privileges`;
  if (SHELLS.has(family)) return `${name} is a shell`;
  if (INTERPRETERS.has(family)) return `${name} is an interpreter`;
  if (WRAPPERS.has(family)) return `${name} runs other commands`;
  const harmless = RUNNERS.get(family);
  if (!harmless) return null;
  const [, subcommand] = fact.argv;
  return subcommand?.value && harmless.has(subcommand.value) ? null : `${name} runs code from project files`;
}

/** Reports whether a redirection reads or writes a file. `2>&1` and `>/dev/null` do not. */
function reachesFile({ kind, path }: CommandFact["redirects"][number]): boolean {
  return kind !== "duplicate" && path !== "/dev/null";
}
