import { closeSync, constants, lstatSync, openSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { entriesOf, isMarker, ownBases } from "./base.ts";

/** The number of files whose sizes are added up. A larger directory counts with those that were found until then. */
const MAX_COUNTED = 50_000;

interface CleanOptions {
  unusedMs: number;
  /** The size of all directories of the state folder; 0 for no limit. */
  maxBytes: number;
  /** Whether a session of the state folder is running. */
  live: boolean;
}

/**
 * Removes the directories of state folders that no longer exist, unused directories of this one, and, if the rest is
 * too large, those that have not been used for the longest time.
 */
export function cleanPrivateTmps(state: string, { unusedMs, maxBytes, live }: CleanOptions): void {
  const kept: string[] = [];
  for (const { base, state: owner, current } of ownBases()) {
    if (owner !== state && !lstatSync(owner, { throwIfNoEntry: false })) removeTree(base);
    if (owner !== state || live) continue;
    for (const name of entriesOf(base)) {
      const folder = join(base, name);
      if (isMarker(name)) continue;
      if (Date.now() - lastUsed(folder) > unusedMs) removeTree(folder);
      else kept.push(folder);
    }
    if (!current && entriesOf(base).every(isMarker)) removeTree(base);
  }
  if (maxBytes > 0) removeOldest(kept, maxBytes);
}

function removeOldest(folders: readonly string[], maxBytes: number): void {
  const budget = { files: MAX_COUNTED };
  const measured = folders.map((folder) => ({ folder, used: lastUsed(folder), bytes: sizeOf(folder, budget) }));
  let total = measured.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { folder, bytes } of measured.sort((one, other) => one.used - other.used)) {
    if (total <= maxBytes) return;
    removeTree(folder);
    total -= bytes;
  }
}

/** Adds up the blocks of all files below a folder without following links. */
function sizeOf(folder: string, budget: { files: number }): number {
  let bytes = 0;
  for (const name of entriesOf(folder)) {
    if (budget.files-- <= 0) break;
    const status = lstatSync(join(folder, name), { throwIfNoEntry: false });
    bytes += (status?.blocks ?? 0) * 512;
    if (status?.isDirectory()) bytes += sizeOf(join(folder, name), budget);
  }
  return bytes;
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
