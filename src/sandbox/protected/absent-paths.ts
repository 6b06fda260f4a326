import { BROWSERS, HISTORIES } from "../credential-paths.ts";
import { isWithin } from "../workspace.ts";

/** Denied paths that programs create in everyday use, with data of their own. */
const EVERYDAY_PATHS = [...HISTORIES, ...BROWSERS].map(({ path }) => `/${path}`);

/**
 * Returns the denied paths in writable folders whose appearance while a command runs counts as a broken mask. A path
 * that does not exist cannot be masked.
 */
export function deniedAbsentPaths(denied: readonly string[], writable: readonly string[]): string[] {
  return denied.filter(
    (path) =>
      writable.some((folder) => isWithin(path, folder)) && !EVERYDAY_PATHS.some((everyday) => path.endsWith(everyday)),
  );
}
