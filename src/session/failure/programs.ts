import { accessSync, constants, opendirSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";

const MOST_FOLDERS = 64;
const MOST_NAMES = 20_000;
/** A folder on a slow disk (a network mount, the other system's) is not waited for again and again. */
const LONGEST_MS = 100;

/** Where a command was to run: its working directory, and the PATH on which its name was looked up. */
export interface Place {
  cwd: string;
  path: string;
  /** Default: /proc/self/mountinfo. */
  mountinfo?: string;
}

interface Listing {
  mtimeMs: number;
  names: string[];
}

const listings = new Map<string, Listing>();

/** Folders of a PATH that mean the same wherever one stands. */
export function pathFolders(path: string): string[] {
  return path
    .split(delimiter)
    .filter((folder) => folder.startsWith("/"))
    .slice(0, MOST_FOLDERS);
}

/** The names of all programs on a PATH; listed again only where a folder has changed. */
export function programNames(path: string): Set<string> {
  const names = new Set<string>();
  const until = performance.now() + LONGEST_MS;
  for (const folder of pathFolders(path)) {
    if (names.size > MOST_NAMES || performance.now() > until) break;
    for (const name of namesIn(folder)) names.add(name);
  }
  return names;
}

/** Names in a folder, none when it cannot be read. */
export function namesIn(folder: string): readonly string[] {
  try {
    const { mtimeMs } = statSync(folder);
    const known = listings.get(folder);
    if (known?.mtimeMs === mtimeMs) return known.names;
    const listing = { mtimeMs, names: firstNames(folder) };
    if (listings.size >= MOST_FOLDERS) listings.clear();
    listings.set(folder, listing);
    return listing.names;
  } catch {
    return [];
  }
}

/** A workspace's folder may hold millions: no more than are looked at are read. */
function firstNames(folder: string): string[] {
  const names: string[] = [];
  const open = opendirSync(folder, { bufferSize: 1024 });
  try {
    for (let entry = open.readSync(); entry !== null && names.length < MOST_NAMES; entry = open.readSync()) {
      names.push(entry.name);
    }
  } finally {
    open.closeSync();
  }
  return names;
}

/** Where on a PATH a program is that may be executed; null: nowhere. */
export function findProgram(name: string, path: string): string | null {
  for (const folder of pathFolders(path)) {
    const file = join(folder, name);
    if (isProgram(file)) return file;
  }
  return null;
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
