import { lstatSync, readdirSync } from "node:fs";
import { configurationPaths } from "./protected-paths.ts";

/** The resolution of file timestamps, which can lag behind the clock by this much. */
const CLOCK_STEP_MS = 10;
/** Paths that were reported for an earlier command. */
const reported = new Set<string>();
const MAX_REPORTED = 1000;

/**
 * Returns protected paths that were created while a command ran. A path that does not exist cannot be mounted over, so
 * a person should inspect it. For most commands this takes two lstat calls; more only if a parent folder has changed.
 */
export function newProtectedPaths(workspace: string, sinceMs: number): string[] {
  const since = sinceMs - CLOCK_STEP_MS;
  try {
    if ((lstat(workspace)?.mtimeMs ?? 0) < since) return [];
    return configurationPaths(workspace).filter((path) => {
      const found = lstat(path);
      // A birth time of 0 means that the file system does not record it.
      if (!found || found.birthtimeMs < since || found.birthtimeMs === 0) return false;
      return (
        !(found.isDirectory() && isEmptyOrSamples(path)) && isUnreported(`${path} ${found.ino} ${found.birthtimeMs}`)
      );
    });
  } catch {
    return []; // removed or changed in the meantime
  }
}

function lstat(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Reports whether a folder is empty or contains only git's sample hooks. */
function isEmptyOrSamples(folder: string): boolean {
  return readdirSync(folder).every((name) => name.endsWith(".sample"));
}

function isUnreported(path: string): boolean {
  if (reported.has(path)) return false;
  if (reported.size >= MAX_REPORTED) reported.clear();
  reported.add(path);
  return true;
}
