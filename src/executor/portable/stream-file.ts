import { closeSync, constants, ftruncateSync, openSync, readSync, writeSync } from "node:fs";

const PAGE = 4096;
const CAP_MIN = 64 << 10;
/** The tail is in memory while it is moved. */
const TAIL_MAX = 16 << 20;
const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;

/**
 * A file for output with a limit on its disk space (promise 6). When it exceeds the cap, its middle is dropped: half of
 * the cap is the head, and a quarter to a half of it is the tail. Offsets do not change.
 */
export class StreamFile {
  readonly cap: number;
  /** The bytes accepted, including dropped ones. */
  size = 0;
  readonly holeStart: number;
  holeEnd: number;
  /** The bytes that could not be written. They have no offset. */
  lost = 0;
  readonly #path: string | null;
  readonly #tail: number;
  #fd: number | null;
  #cannotDrop = false;

  /** `file`: an open file, or a path that is created with the first byte. */
  constructor(file: string | number, cap: number) {
    this.#path = typeof file === "string" ? file : null;
    this.#fd = typeof file === "number" ? file : null;
    this.cap = cap > 0 && cap < CAP_MIN ? CAP_MIN : cap;
    this.holeStart = pageAfter(this.cap / 2);
    this.holeEnd = this.holeStart;
    this.#tail = Math.min(this.cap / 4, TAIL_MAX);
  }

  /** Returns the number of bytes written. Never throws: the command continues, and the rest is counted as lost. */
  append(bytes: Uint8Array): number {
    const space = this.#cannotDrop ? Math.max(0, this.cap - this.size) : bytes.length;
    this.#fd ??= this.#path === null ? null : openOrCreate(this.#path);
    const written = this.#fd === null || space === 0 ? 0 : writeAll(this.#fd, bytes.subarray(0, space), this.size);
    this.size += written;
    this.lost += bytes.length - written;
    return written;
  }

  /** Extends the hole if the cap is exceeded. If it returns true, publish the hole to readers, then call `drop`. */
  growHole(): boolean {
    if (this.cap === 0 || this.#cannotDrop || this.size <= this.holeEnd + this.cap / 2) return false;
    this.holeEnd = pageAfter(this.size - this.#tail);
    return true;
  }

  /** Frees the disk space of the hole. If that fails, output beyond the cap is counted as lost from now on. */
  drop(): void {
    if (this.#fd === null) return;
    try {
      const end = Math.max(this.holeEnd, dropRange(this.#fd, this.holeStart, this.holeEnd, this.size));
      this.lost += this.size - end;
      this.size = end;
    } catch {
      this.#cannotDrop = true;
    }
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

function pageAfter(offset: number): number {
  return Math.ceil(offset / PAGE) * PAGE;
}

/** Returns null if the file cannot be opened now; the next write tries again. */
export function openOrCreate(path: string): number | null {
  try {
    return openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  } catch {
    return null;
  }
}

/** Returns the number of bytes written, which is less than all on a full disk. */
export function writeAll(fd: number, bytes: Uint8Array, offset: number): number {
  let written = 0;
  try {
    while (written < bytes.length) {
      written += writeSync(fd, bytes, written, bytes.length - written, offset + written);
    }
  } catch {
    // A full disk, or a file that must not grow.
  }
  return written;
}

/**
 * Frees [start, end) of a file of `size` bytes. Node cannot punch holes: the file is truncated at `start` and its tail
 * written again at its offset, so the gap takes no space in a sparse file. In between, readers see a shorter file, but
 * never wrong bytes. Returns the new length.
 */
export function dropRange(fd: number, start: number, end: number, size: number): number {
  const tail = Buffer.allocUnsafe(size - end);
  let filled = 0;
  for (let count = 1; count > 0 && filled < tail.length; filled += count) {
    count = readSync(fd, tail, filled, tail.length - filled, end + filled);
  }
  ftruncateSync(fd, start);
  const written = writeAll(fd, tail.subarray(0, filled), end);
  return written === 0 ? start : end + written;
}
