/** May a command run by itself in allowlist mode? Each command of the text is asked for alone. */
import type { CommandFact } from "../core/facts.ts";
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
  if (entry.agent !== undefined && entry.agent !== agent) return false;
  if (entry.cwd !== undefined && (fact.cwd === null || !isInside(fact.cwd, entry.cwd))) return false;
  return isMeant(entry, fact) && argumentsMatch(entry, fact);
}

function isMeant({ pattern }: AllowEntry, { executable }: CommandFact): boolean {
  if (pattern.includes("/"))
    return executable.resolved !== null && matchesGlob(pattern, executable.resolved, { segments: true });
  // A bare name is PATH's word: `./git` or `/tmp/git` must not pass as `git`.
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
  // A glob or variable is expanded by the real shell after the check: its words are nobody's to match.
  if (words.some((word) => word.value === null || word.glob)) return false;
  return matchesGlobs(
    args.split(/\s+/).filter(Boolean),
    words.map((word) => word.value ?? ""),
    matchesGlob,
  );
}

/** Environment that changes no program's behaviour in a way that matters. */
const HARMLESS_ENVIRONMENT =
  /^(?:LC_[A-Z]+|LANG|LANGUAGE|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|CI|TERM|COLUMNS|LINES|DEBUG|NODE_ENV|RUST_LOG|RUST_BACKTRACE|VERBOSE)$/;

/** No files redirected, no telling environment, nothing unknown: what is left is the command itself. */
export function isPlain(fact: CommandFact): boolean {
  return (
    fact.opaque === null &&
    !fact.remote &&
    fact.redirects.every((redirect) => redirect.kind === "duplicate" || redirect.path === "/dev/null") &&
    fact.assignments.every(({ name }) => HARMLESS_ENVIRONMENT.test(name))
  );
}
