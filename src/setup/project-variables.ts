import { type HostDocument, isObject } from "./host-documents.ts";
import type { Host } from "./hosts/host.ts";

/** Variables that change what Node, a shell or Sallyport runs or reads. */
const CHANGES_PROGRAMS =
  /^(?:(?:NODE|LD|DYLD|SALLYPORT|XDG)_.*|PATH|HOME|ENV|BASH_ENV|SHELL|CLAUDE_CODE_SHELL_PREFIX)$/;

/** Returns the variables of the host that a project, which agents can write to, sets (invariant 7). */
export function variablesOfProject({ variables }: Host, documents: readonly HostDocument[]): string[] {
  if (!variables) return [];
  return documents.flatMap(({ file, scope, path, document }) => {
    const set = scope === "project" && variables.files.includes(file) ? document.get(variables.path) : undefined;
    if (!isObject(set)) return [];
    return Object.keys(set)
      .filter((name) => CHANGES_PROGRAMS.test(name))
      .map((name) => `the project sets the variable ${name} in ${path}:${document.lineOf([...variables.path, name])}`);
  });
}
