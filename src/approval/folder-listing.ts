/** The identity of a folder from which code is loaded: a hash over the names and identities of the files below it. */
import { createHash } from "node:crypto";
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type FileIdentity, statIdentity } from "./file-identity.ts";

/** The maximum number of entries that are listed per folder argument. */
const MAX_ENTRIES = 2000;
const MAX_DEPTH = 32;
const DATABASE = "sallyport.db";
/** Folders that are too large to list on each request. */
const UNLISTED = new Set([".git", "node_modules"]);

export interface FolderListing {
  identity: FileIdentity | null;
  /** Paths of the files below the folder. */
  files: string[];
  /** Paths of the folders whose files are not part of the identity. */
  left: string[];
}

/**
 * Lists a folder. Files are identified by inode, size and timestamps, because their content would take too long to
 * read. `keep` selects the files that are part of the identity.
 */
export function listFolder(folder: string, keep: (name: string) => boolean = () => true): FolderListing {
  const hash = createHash("sha256");
  const files: string[] = [];
  const left: string[] = [];
  let entries = 0;
  const visit = (path: string, depth: number) => {
    let names: string[];
    try {
      names = readdirSync(path).sort();
    } catch {
      left.push(path);
      return;
    }
    // A state folder of Sallyport changes with every request, also with the one for this approval.
    if (names.includes(DATABASE)) {
      left.push(path);
      return;
    }
    for (const name of names) {
      const full = join(path, name);
      const status = statusOf(full);
      if (!status) continue;
      if (++entries > MAX_ENTRIES) {
        if (left.at(-1) !== path) left.push(path);
        return;
      }
      if (status.isDirectory()) {
        if (UNLISTED.has(name) || depth >= MAX_DEPTH) left.push(full);
        else visit(full, depth + 1);
      } else if (keep(name)) {
        files.push(full);
        const { ino, size, mtimeNs, ctimeNs, mode } = statIdentity(status);
        hash.update(JSON.stringify([full.slice(folder.length), ino, size, mtimeNs, ctimeNs, mode]));
      }
    }
  };
  visit(folder, 0);
  const own = statusOf(folder);
  if (!own) return { identity: null, files, left };
  return { identity: { ...statIdentity(own), sha256: hash.digest("hex"), shebang: null }, files, left };
}

function statusOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
