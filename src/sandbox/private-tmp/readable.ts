import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute } from "node:path";
import { isWithin } from "../workspace.ts";
import type { PrivateTmp } from "./private-tmp.ts";

interface ReadableInput {
  /** The PATH of commands. */
  path: string;
  writable: readonly string[];
  denied: readonly string[];
}

/**
 * Returns the folders below /tmp that commands need although a private directory hides them: those of the programs on
 * PATH, and the repository of a linked worktree. Of a program, it is the topmost folder below /tmp, because a program
 * uses files beside its own folder. A folder that contains a denied path which does not exist yet is left out, because
 * that path cannot be masked.
 */
export function readableFolders({ base, binds }: PrivateTmp, { path, writable, denied }: ReadableInput): string[] {
  const found = new Set<string>();
  for (const repository of writable.flatMap(repositoryOf)) {
    const hidden = binds.some(({ at }) => isWithin(repository, at) && repository !== at);
    if (hidden && isHarmless(repository, base, denied)) found.add(repository);
  }
  for (const entry of path.split(":")) {
    for (const folder of new Set([entry, realFolder(entry)])) {
      const at = binds.find((bind) => isWithin(folder, bind.at) && folder !== bind.at)?.at;
      const top = at === undefined ? null : topmost(folder, at, (place) => isHarmless(place, base, denied));
      if (top !== null && realFolder(top) === top) found.add(top);
    }
  }
  return [...found].filter((folder) => ![...found].some((other) => other !== folder && isWithin(folder, other))).sort();
}

/** Returns the repository to which the folder of a linked worktree belongs, `REPOSITORY/worktrees/NAME`. */
function repositoryOf(folder: string): string[] {
  return basename(dirname(folder)) === "worktrees" ? [dirname(dirname(folder))] : [];
}

function realFolder(path: string): string {
  try {
    return isAbsolute(path) ? realpathSync.native(path) : path;
  } catch {
    return path;
  }
}

/** Returns the topmost parent of a folder below `at` that passes a test, or null. */
function topmost(folder: string, at: string, passes: (place: string) => boolean): string | null {
  let top: string | null = null;
  for (let place = folder; place !== at && place !== "/"; place = dirname(place)) if (passes(place)) top = place;
  return top;
}

function isHarmless(place: string, base: string, denied: readonly string[]): boolean {
  if (isWithin(base, place)) return false; // it has the temporary directories of other agents
  return denied.every((path) => !isWithin(place, path) && (!isWithin(path, place) || existsSync(path)));
}
