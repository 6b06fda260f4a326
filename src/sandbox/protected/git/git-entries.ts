import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** A path that is harmless if it is empty. */
export interface EmptyEntry {
  path: string;
  isFolder: boolean;
}

/** Creates empty entries, so that they can be mounted over. Best effort. */
export function createEntries(entries: readonly EmptyEntry[]): void {
  for (const { path, isFolder } of entries) {
    inFolderOf(path, (folder, entry) => {
      const { uid, gid } = lstatSync(`${folder}/.`);
      if (isFolder) {
        mkdirSync(entry, { mode: 0o755 });
        if (uid !== process.geteuid?.()) lchownSync(entry, uid, gid);
        return;
      }
      const file = openSync(entry, NEW_FILE, 0o644);
      if (uid !== fstatSync(file).uid) fchownSync(file, uid, gid);
      closeSync(file);
    });
  }
}

/**
 * Renames entries that must not exist, so that git ignores them. Returns their paths. The keeper ends a command that
 * creates one, but the entry remains.
 */
export function moveAway(paths: readonly string[]): string[] {
  return paths.filter((path) => {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
    inFolderOf(path, (_, entry) => renameSync(entry, `${entry}.removed-${Date.now().toString(36)}`));
    return true;
  });
}

/** Calls back with a path to a folder that stays the same even if a command replaces a parent with a link. */
function inFolderOf(path: string, use: (folder: string, entry: string) => void): void {
  try {
    const fd = openSync(dirname(path), FOLDER);
    try {
      const folder = `/proc/self/fd/${fd}`;
      if (readlinkSync(folder) === dirname(path)) use(folder, join(folder, basename(path)));
    } finally {
      closeSync(fd);
    }
  } catch {
    // The folder was removed, or cannot be written.
  }
}
