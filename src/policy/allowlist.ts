/** Decides which commands run without approval in allowlist mode. Each command of a text is checked on its own. */

import type { CommandFact } from "../core/facts.ts";
import { isSameName } from "../core/names.ts";
import type { AllowEntry } from "../core/policy.ts";
import { isInside } from "../shell/path.ts";
import { matchesGlob, matchesGlobs } from "../text/glob.ts";

interface AllowContext {
  now: number;
  agent: string | null;
}

export function allowedBy(fact: CommandFact, entries: readonly AllowEntry[], context: AllowContext): AllowEntry | null {
  if (!isPlain(fact)) return null;
  return entries.find((entry) => entryAllows(entry, fact, context)) ?? null;
}

function entryAllows(entry: AllowEntry, fact: CommandFact, { now, agent }: AllowContext): boolean {
  if (entry.expires !== undefined && !(Date.parse(entry.expires) > now)) return false;
  if (entry.agent !== undefined && !isSameName(entry.agent, agent ?? "")) return false;
  if (entry.cwd !== undefined && (fact.cwd === null || !isInside(fact.cwd, entry.cwd))) return false;
  return isMeant(entry, fact) && argumentsMatch(entry, fact);
}

function isMeant({ pattern }: AllowEntry, { executable }: CommandFact): boolean {
  if (pattern.includes("/"))
    return executable.resolved !== null && matchesGlob(pattern, executable.resolved, { segments: true });
  // A pattern without a slash matches only builtins and programs found on PATH: `git` does not match `./git`.
  const byPath = executable.written !== null && !executable.written.includes("/");
  return (
    byPath &&
    (executable.kind === "external" || executable.kind === "builtin") &&
    matchesGlob(pattern, executable.written ?? "")
  );
}

function argumentsMatch({ args }: AllowEntry, fact: CommandFact): boolean {
  if (args === undefined) return true;
  const words = fact.argv.slice(1);
  // The shell expands globs and variables after this check, so their values cannot be matched.
  if (words.some((word) => word.value === null || word.glob)) return false;
  return matchesGlobs(
    args.split(/\s+/).filter(Boolean),
    words.map((word) => word.value ?? ""),
    matchesGlob,
  );
}

/** Environment variables that do not change what a program does. */
const HARMLESS_ENVIRONMENT =
  /^(?:LC_[A-Z]+|LANG|LANGUAGE|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|CI|TERM|COLUMNS|LINES|DEBUG|NODE_ENV|RUST_LOG|RUST_BACKTRACE|VERBOSE)$/;

/** Reports whether a command has no redirections to files, no significant variables and no opaque code. */
export function isPlain(fact: CommandFact): boolean {
  return (
    fact.opaque === null &&
    !fact.remote &&
    fact.redirects.every((redirect) => redirect.kind === "duplicate" || redirect.path === "/dev/null") &&
    fact.assignments.every(({ name }) => HARMLESS_ENVIRONMENT.test(name))
  );
}

const HARMLESS_BUILTINS = new Set(
  ": [ break caller cd continue dirs echo exit false jobs popd printf pushd pwd return shift test times true type wait".split(
    " ",
  ),
);

const WRAPPER_FOLDERS = ["/bin", "/usr/bin", "/nix/store"];
/** Variables that change which programs run or what they do. */
const SIGNIFICANT_VARIABLES =
  /^(?:PATH|IFS|CDPATH|ENV|BASH.*|LD_.*|DYLD_.*|SHELL.*|PS\d|PROMPT_COMMAND|.*(?:PAGER|EDITOR|BROWSER|COMMAND|OPTIONS|_OPTS|PRELOAD|ASKPASS)|GIT_.*|NODE_.*|PYTHON.*|PERL.*|RUBY.*|TAR_.*|HOME|TMPDIR|VISUAL)$/;

export function isImplicitlyAllowed(fact: CommandFact, all: readonly CommandFact[]): boolean {
  const { kind, written, resolved } = fact.executable;
  if (kind === "keyword") return onlySetsVariables(fact);
  if (!isPlain(fact)) return false;
  if (kind === "function") return true;
  if (kind === "builtin" && HARMLESS_BUILTINS.has(written ?? "")) {
    const runs = written === "jobs" ? "-x" : written === "printf" ? "-v" : null;
    return runs === null || !fact.argv.some((word) => word.value?.startsWith(runs) ?? true);
  }
  if (written === "set" && kind === "builtin")
    return (
      fact.argv.length > 1 &&
      fact.argv
        .slice(1)
        .every((word) =>
          /^[-+](?:[efuxn]+|o|euo|eo|uo)$|^(?:pipefail|errexit|nounset|noglob|xtrace)$/.test(word.value ?? ""),
        )
    );
  if (!fact.wrapper) return false;
  if (written === "command" && /^-[pvV]+$/.test(fact.argv[1]?.value ?? "") && /[vV]/.test(fact.argv[1]?.value ?? ""))
    return true;
  const trusted =
    kind === "builtin" || (resolved !== null && WRAPPER_FOLDERS.some((folder) => isInside(resolved, folder)));
  return trusted && fact.unknowns.length === 0 && wrapsSomething(fact, all);
}

/**
 * Reports whether a wrapper contains other commands, which are checked on their own. A wrapper that contains none is
 * checked like any other command.
 */
function wrapsSomething(fact: CommandFact, all: readonly CommandFact[]): boolean {
  return all.some(
    (other) =>
      other !== fact &&
      other.via.length > fact.via.length &&
      other.via[fact.via.length]?.startsWith(fact.executable.name ?? " "),
  );
}

function onlySetsVariables(fact: CommandFact): boolean {
  return (
    fact.redirects.every((redirect) => redirect.kind === "duplicate" || redirect.path === "/dev/null") &&
    !fact.assignments.some(({ name }) => SIGNIFICANT_VARIABLES.test(name))
  );
}
