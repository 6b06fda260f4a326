import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

const FILES = 8;
const FILE_BYTES = 64 << 10;
/** The reserve is created while this much is free. */
const PLENTY_BYTES = 4 << 20;
/** The reserve is released when less than this is free. */
const LEAST_BYTES = 256 << 10;
const LEAST_INODES = 16;
/** New commands are refused while less than this is free. It is more than the reserve, which may have been released. */
const LEAST_FOR_COMMANDS = 1 << 20;

function folderOf(state: string): string {
  return join(state, "reserve");
}

/** Why nothing can be written to a folder. */
export type WriteFailure = "disk" | "inodes" | "quota" | "read-only";

/** Returns what new commands are refused for, so that the rest of the disk serves to make room. Null if nothing is. */
export function shortageForCommands(state: string): WriteFailure | null {
  return shortage(state, LEAST_FOR_COMMANDS, LEAST_INODES + FILES);
}

function shortage(state: string, bytes: number, inodes: number): "disk" | "inodes" | null {
  // A folder that has been removed is reported by what writes to it.
  if (!existsSync(state)) return null;
  const { bavail, bsize, files, ffree } = statfsSync(state);
  // File systems that create inodes on demand report that they have none.
  if (files > 0 && ffree < inodes) return "inodes";
  return bavail * bsize < bytes ? "disk" : null;
}

/**
 * Keeps space and inodes in the state folder that are released when the disk is full. Otherwise the database could not
 * even be opened, and sessions could not be removed to make room. Best effort: errors are ignored.
 */
export function keepReserve(state: string): void {
  try {
    if (filesIn(folderOf(state)).length >= FILES) return;
    const { bavail, bsize } = statfsSync(state);
    if (bavail * bsize < PLENTY_BYTES) return;
    mkdirSync(folderOf(state), { recursive: true, mode: 0o700 });
    restoreReserve(state);
  } catch {
    // The disk is full or read-only. A later gateway tries again.
  }
}

/** Takes back what was released, as far as there is space. Called when the database has been closed. */
export function restoreReserve(state: string): void {
  const folder = folderOf(state);
  const present = new Set(filesIn(folder));
  if (present.size >= FILES || !existsSync(folder)) return;
  for (let index = 0; index < FILES; index++) {
    if (!present.has(String(index)) && !fill(join(folder, String(index)))) return;
  }
}

/** Random bytes, because some file systems compress others and would reserve nothing. */
function fill(path: string): boolean {
  const bytes = process.getBuiltinModule("node:crypto").randomBytes(FILE_BYTES);
  try {
    writeFileSync(path, bytes, { mode: 0o600 });
    return true;
  } catch {
    rmSync(path, { force: true });
    return false;
  }
}

/** Frees half of the reserve if the file system is almost full. */
export function releaseIfAlmostFull(state: string): void {
  if (shortage(state, LEAST_BYTES, LEAST_INODES) === null) return;
  for (let count = filesIn(folderOf(state)).length - FILES / 2; count > 0; count--) releasePart(state);
}

/** Frees a part of the reserve, since others may take what is freed. Does nothing if there is none left. */
export function releasePart(state: string): void {
  const name = filesIn(folderOf(state)).at(-1);
  if (name !== undefined) rmSync(join(folderOf(state), name), { force: true });
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const PROBE_BYTES = 64 << 10;

/**
 * Finds out why the database cannot be written, by writing a file beside it: SQLite reports most reasons as an I/O
 * error. Returns null if that works, or fails for another reason.
 */
export function findWriteFailure(database: string): WriteFailure | null {
  const folder = dirname(database);
  const probe = join(folder, `.probe-${process.pid}`);
  try {
    const file = openSync(probe, "wx", 0o600);
    try {
      const written = writeSync(file, Buffer.alloc(PROBE_BYTES, 1));
      return written < PROBE_BYTES ? "disk" : null;
    } finally {
      closeSync(file);
      rmSync(probe, { force: true });
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EDQUOT") return "quota";
    if (code === "EROFS") return "read-only";
    if (code !== "ENOSPC") return null;
    const { files, ffree } = statfsSync(folder);
    return files > 0 && ffree === 0 ? "inodes" : "disk";
  }
}
