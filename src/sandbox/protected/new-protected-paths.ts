import { lstatSync, readdirSync } from "node:fs";

/**
 * Returns the paths that a person should inspect, given the protected paths that the keeper found to be created or
 * changed while a command ran.
 */
export function newProtectedPaths(created: readonly string[]): string[] {
  return created.filter((path) => {
    try {
      return !(lstatSync(path).isDirectory() && isEmptyOrSamples(path));
    } catch {
      return false; // removed or changed in the meantime
    }
  });
}

/** Reports whether a folder is empty or contains only git's sample hooks. */
function isEmptyOrSamples(folder: string): boolean {
  return readdirSync(folder).every((name) => name.endsWith(".sample"));
}
