/** What a file is right now: by content where it can be read within bounds, by place, size and times where not. */
import { createHash } from "node:crypto";
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

export interface FileIdentity {
  dev: string;
  ino: string;
  size: string;
  mtimeNs: string;
  /** Cannot be set back by whoever writes the file, unlike mtime. */
  ctimeNs: string;
  /** Permissions and owner: a program that became setuid is another program. */
  mode: string;
  /** Null: over the bound, or not a regular file. */
  sha256: string | null;
  /** The `#!` line, where it has one. */
  shebang: string | null;
}

/** A bash is 1.4 MB and takes 3 ms; a node of 120 MB is bound by its identity. */
const MOST_BYTES_PER_FILE = 16 << 20;
/** Over all files of one command. Past it files are still bound, by identity: nothing goes unchecked. */
const MOST_BYTES_PER_COMMAND = 64 << 20;
const PIECE = 1 << 20;
const SHEBANG_LENGTH = 256;

export class ReadingBudget {
  #left = MOST_BYTES_PER_COMMAND;

  take(bytes: bigint): boolean {
    if (bytes > MOST_BYTES_PER_FILE || bytes > this.#left) return false;
    this.#left -= Number(bytes);
    return true;
  }
}

/** Null: there is no such file, or it cannot be looked at. */
export function identify(path: string, budget: ReadingBudget): FileIdentity | null {
  let file: number;
  try {
    // Not blocking: opening a fifo that an agent put there must not hang the gateway.
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

/** By descriptor, and by what is read rather than by the size it said: a file that grows meanwhile is cut at the bound. */
function hash(file: number): { sha256: string; shebang: string | null } | null {
  const digest = createHash("sha256");
  const piece = Buffer.allocUnsafe(PIECE);
  let total = 0;
  let shebang: string | null = null;
  for (;;) {
    const length = readSync(file, piece, 0, PIECE, null);
    if (length === 0) return { sha256: digest.digest("hex"), shebang };
    if (total === 0)
      shebang = /^#!([^\n]+)/.exec(piece.toString("latin1", 0, Math.min(length, SHEBANG_LENGTH)))?.[1] ?? null;
    total += length;
    if (total > MOST_BYTES_PER_FILE) return null;
    digest.update(piece.subarray(0, length));
  }
}

/** Whether both are the same program or script. Content decides where it is known: a mere `touch` asks nobody again. */
export function isSameFile(before: FileIdentity | null, after: FileIdentity | null): boolean {
  if (before === null || after === null) return before === after;
  if (before.mode !== after.mode) return false;
  if (before.sha256 !== null || after.sha256 !== null) return before.sha256 === after.sha256;
  const place = ({ dev, ino, size, mtimeNs, ctimeNs }: FileIdentity) => [dev, ino, size, mtimeNs, ctimeNs].join();
  return place(before) === place(after);
}
