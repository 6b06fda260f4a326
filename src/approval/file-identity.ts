/** The identity of a file: its content hash if it can be read within limits, otherwise inode, size and timestamps. */
import { createHash } from "node:crypto";
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";

export interface FileIdentity {
  dev: string;
  ino: string;
  size: string;
  mtimeNs: string;
  /** Unlike mtime, ctime cannot be set back by a process that writes the file. */
  ctimeNs: string;
  /** Permissions and owner. A program that became setuid is a different program. */
  mode: string;
  /** Null for a file that is too large, cannot be read, or is not a regular file. */
  sha256: string | null;
  /** The hash of the first and last part of a file that is too large to hash as a whole. */
  ends?: string;
  /** The `#!` line without `#!`. Null when there is none. */
  shebang: string | null;
}

/**
 * Larger files are identified by inode, size and timestamps. Hashing bash (1.4 MB) takes 3 ms; node is 120 MB in size.
 */
const MAX_BYTES_PER_FILE = 16 << 20;
/** The limit over all files of one command. Further files are identified by inode, size and timestamps. */
const MAX_BYTES_PER_COMMAND = 64 << 20;
const CHUNK = 1 << 20;
const SHEBANG_LENGTH = 256;

export class ReadingBudget {
  #left = MAX_BYTES_PER_COMMAND;

  take(bytes: bigint): boolean {
    if (bytes > MAX_BYTES_PER_FILE || bytes > this.#left) return false;
    this.#left -= Number(bytes);
    return true;
  }
}

/** Returns the identity of a file, or null when it does not exist. */
export function identify(path: string, budget: ReadingBudget): FileIdentity | null {
  const file = openFile(path);
  if (file === null) return unread(path);
  try {
    const status = fstatSync(file, { bigint: true });
    if (!status.isFile()) return { ...statIdentity(status), sha256: null, shebang: null };
    const content = budget.take(status.size) ? hash(file) : null;
    if (content) return { ...statIdentity(status), ...content };
    return { ...statIdentity(status), sha256: null, ...hashEnds(file, Number(status.size)) };
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** Opens a file for reading. Returns null when that is not possible. */
function openFile(path: string): number | null {
  try {
    // O_NONBLOCK: opening a FIFO that an agent created must not block the gateway.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return null;
  }
}

/** A file that this user cannot read, but the command may (`sudo`), is identified by inode, size and timestamps. */
function unread(path: string): FileIdentity | null {
  try {
    const status = statSync(path, { bigint: true, throwIfNoEntry: false });
    return status ? { ...statIdentity(status), sha256: null, shebang: null } : null;
  } catch {
    return null;
  }
}

/** Returns the text of a regular file. Null when it is larger than `maxBytes`, is binary or cannot be read. */
export function readText(path: string, maxBytes: number): string | null {
  const file = openFile(path);
  if (file === null) return null;
  try {
    const status = fstatSync(file);
    if (!status.isFile() || status.size > maxBytes) return null;
    const bytes = Buffer.allocUnsafe(status.size);
    const text = bytes.toString("utf8", 0, readSync(file, bytes, 0, status.size, 0));
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

export function statIdentity(status: BigIntStats): Omit<FileIdentity, "sha256" | "shebang"> {
  const { dev, ino, size, mtimeNs, ctimeNs, mode, uid, gid } = status;
  return {
    dev: String(dev),
    ino: String(ino),
    size: String(size),
    mtimeNs: String(mtimeNs),
    ctimeNs: String(ctimeNs),
    mode: `${mode.toString(8)} ${uid}:${gid}`,
  };
}

/** Hashes the content of an open file. Returns null when it grows beyond the limit while it is read. */
function hash(file: number): { sha256: string; shebang: string | null } | null {
  const digest = createHash("sha256");
  const chunk = Buffer.allocUnsafe(CHUNK);
  let total = 0;
  let shebang: string | null = null;
  for (;;) {
    const length = readSync(file, chunk, 0, CHUNK, null);
    if (length === 0) return { sha256: digest.digest("hex"), shebang };
    if (total === 0) shebang = shebangIn(chunk.subarray(0, length));
    total += length;
    if (total > MAX_BYTES_PER_FILE) return null;
    digest.update(chunk.subarray(0, length));
  }
}

function hashEnds(file: number, size: number): { ends: string; shebang: string | null } {
  const digest = createHash("sha256");
  const chunk = Buffer.allocUnsafe(CHUNK);
  const start = chunk.subarray(0, readSync(file, chunk, 0, CHUNK, 0));
  const shebang = shebangIn(start);
  digest.update(start);
  digest.update(chunk.subarray(0, readSync(file, chunk, 0, CHUNK, Math.max(0, size - CHUNK))));
  return { ends: digest.digest("hex"), shebang };
}

function shebangIn(start: Buffer): string | null {
  return /^#!([^\n]+)/.exec(start.toString("latin1", 0, SHEBANG_LENGTH))?.[1] ?? null;
}

/**
 * Reports whether both are the same program or script. If the content hashes are known, timestamps are not compared, so
 * `touch` has no effect.
 */
export function isSameFile(before: FileIdentity | null, after: FileIdentity | null): boolean {
  if (before === null || after === null) return before === after;
  if (before.mode !== after.mode) return false;
  if (before.sha256 !== null || after.sha256 !== null) return before.sha256 === after.sha256;
  const stat = ({ dev, ino, size, mtimeNs, ctimeNs, ends = "" }: FileIdentity) =>
    [dev, ino, size, mtimeNs, ctimeNs, ends].join();
  return stat(before) === stat(after);
}
