import { closeSync, constants, lstatSync, openSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { entriesOf, isMarker, ownBases } from "./base.ts";

/** Removes the directories of state folders that no longer exist, and unused directories of this one. */
export function cleanPrivateTmps(state: string, { unusedMs, live }: { unusedMs: number; live: boolean }): void {
  for (const { base, state: owner, current } of ownBases()) {
    if (owner !== state && !lstatSync(owner, { throwIfNoEntry: false })) removeTree(base);
    if (owner !== state || live) continue;
    for (const name of entriesOf(base)) {
      if (!isMarker(name) && Date.now() - lastUsed(join(base, name)) > unusedMs) removeTree(join(base, name));
    }
    if (!current && entriesOf(base).every(isMarker)) removeTree(base);
  }
}

/** Returns when a folder or one of its entries was last changed. */
function lastUsed(folder: string): number {
  const paths = [folder, ...entriesOf(folder).map((name) => join(folder, name))];
  return Math.max(...paths.map((path) => lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0));
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Removes a folder recursively. Each entry is reached through the descriptor of its parent, so that a folder which an
 * untrusted command replaces by a link in the meantime is not followed.
 */
function removeTree(path: string): void {
  try {
    emptyFolder(path);
    rmdirSync(path);
  } catch {
    // The folder is in use or already removed; the next cleanup tries again.
  }
}

function emptyFolder(path: string): void {
  const fd = openSync(path, FOLDER);
  try {
    const here = `/proc/self/fd/${fd}`;
    for (const entry of readdirSync(here, { withFileTypes: true })) {
      const place = `${here}/${entry.name}`;
      if (entry.isDirectory()) removeTree(place);
      else unlinkSync(place);
    }
  } finally {
    closeSync(fd);
  }
}
