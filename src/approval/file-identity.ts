/** The identity of a file: its content hash if it can be read within limits, otherwise inode, size and timestamps. */
import { createHash } from "node:crypto";
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

export interface FileIdentity {
  dev: string;
  ino: string;
  size: string;
  mtimeNs: string;
  /** Unlike mtime, ctime cannot be set back by a process that writes the file. */
  ctimeNs: string;
  /** Permissions and owner. A program that became setuid is a different program. */
  mode: string;
  /** Null for a file that is too large or not a regular file. */
  sha256: string | null;
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

/** Returns the identity of a file, or null when it does not exist or cannot be read. */
export function identify(path: string, budget: ReadingBudget): FileIdentity | null {
  let file: number;
  try {
    // O_NONBLOCK: opening a FIFO that an agent created must not block the gateway.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return null;
  }
  try {
    const status = fstatSync(file, { bigint: true });
    const content = status.isFile() && budget.take(status.size) ? hash(file) : null;
    return { ...statIdentity(status), sha256: content?.sha256 ?? null, shebang: content?.shebang ?? null };
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
    if (total === 0)
      shebang = /^#!([^\n]+)/.exec(chunk.toString("latin1", 0, Math.min(length, SHEBANG_LENGTH)))?.[1] ?? null;
    total += length;
    if (total > MAX_BYTES_PER_FILE) return null;
    digest.update(chunk.subarray(0, length));
  }
}

/**
 * Reports whether both are the same program or script. If the content hashes are known, timestamps are not compared, so
 * `touch` has no effect.
 */
export function isSameFile(before: FileIdentity | null, after: FileIdentity | null): boolean {
  if (before === null || after === null) return before === after;
  if (before.mode !== after.mode) return false;
  if (before.sha256 !== null || after.sha256 !== null) return before.sha256 === after.sha256;
  const stat = ({ dev, ino, size, mtimeNs, ctimeNs }: FileIdentity) => [dev, ino, size, mtimeNs, ctimeNs].join();
  return stat(before) === stat(after);
}
