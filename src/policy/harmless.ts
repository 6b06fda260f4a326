/** Parts of a text that do nothing by themselves: builtins that only print, test or move, and wrappers around the rest. */
import type { CommandFact } from "../core/facts.ts";
import { isInside } from "../shell/path.ts";
import { isPlain } from "./allowlist.ts";

const HARMLESS_BUILTINS = new Set(
  ": [ break caller cd continue dirs echo exit false jobs popd printf pushd pwd return shift test times true type wait".split(
    " ",
  ),
);

const WRAPPER_FOLDERS = ["/bin", "/usr/bin", "/nix/store"];
/** Setting these changes what later commands are or do. */
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

/** The commands inside are judged by themselves; a wrapper around nothing is a command of its own. */
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
