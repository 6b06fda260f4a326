import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { dropMiddle, writeAll } from "./drop-middle.ts";

const PAGE = 4096;
const SMALLEST_CAP = 64 << 10;
/** The tail is in memory while it is moved. */
const MOST_TAIL = 16 << 20;
const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;

function pageAfter(offset: number): number {
  return Math.ceil(offset / PAGE) * PAGE;
}

/**
 * A file that output is appended to, with a bound on the disk it takes (promise 6): once it is longer than the cap, its
 * middle is dropped. Offsets stay true; half the cap is head, and the tail is between a quarter and a half of it.
 */
export class Sink {
  readonly cap: number;
  /** Bytes accepted, dropped ones included. */
  size = 0;
  readonly holeStart: number;
  holeEnd: number;
  /** Bytes the disk refused; they have no offset. */
  lost = 0;
  readonly #path: string | null;
  readonly #tail: number;
  #fd: number | null;
  #cannotDrop: boolean;

  /** `where`: a path, made with the first byte (a silent command costs no file), or an open file. */
  constructor(where: string | number, cap: number, platform: NodeJS.Platform = process.platform) {
    this.#path = typeof where === "string" ? where : null;
    this.#fd = typeof where === "number" ? where : null;
    this.cap = cap > 0 && cap < SMALLEST_CAP ? SMALLEST_CAP : cap;
    this.holeStart = pageAfter(this.cap / 2);
    this.holeEnd = this.holeStart;
    this.#tail = Math.min(this.cap / 4, MOST_TAIL);
    // NTFS fills the gap of a file that is not marked as sparse, so nothing would be saved there.
    this.#cannotDrop = platform === "win32";
  }

  /** Returns how many bytes were kept. Never fails: the command goes on, and what was refused is counted. */
  append(bytes: Uint8Array): number {
    const room = this.#cannotDrop && this.cap > 0 ? Math.max(0, this.cap - this.size) : bytes.length;
    const fd = this.#open();
    const kept = fd === null || room === 0 ? 0 : writeAll(fd, bytes.subarray(0, room), this.size);
    this.size += kept;
    this.lost += bytes.length - kept;
    return kept;
  }

  /** Moves the hole's end forward when it is due. True: tell readers of the new hole, then call `drop`. */
  growHole(): boolean {
    if (this.cap === 0 || this.#cannotDrop || this.size <= this.holeEnd + this.cap / 2) return false;
    this.holeEnd = pageAfter(this.size - this.#tail);
    return true;
  }

  /** False: this file system keeps no gaps, so the head is kept from now on, and the rest counted as lost. */
  drop(): boolean {
    if (this.#fd === null) return true;
    try {
      const end = Math.max(this.holeEnd, dropMiddle(this.#fd, this.holeStart, this.holeEnd, this.size));
      this.lost += this.size - end;
      this.size = end;
      this.#cannotDrop = takesItsWholeLength(this.#fd, this.size, this.cap);
    } catch {
      this.#cannotDrop = true; // a file that cannot be cut, such as one that may only be appended to
    }
    return !this.#cannotDrop;
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #open(): number | null {
    if (this.#fd !== null || this.#path === null) return this.#fd;
    try {
      this.#fd = openSync(this.#path, O_RDWR | O_CREAT | (O_NOFOLLOW ?? 0), 0o600);
    } catch {
      // No room for a new file, or no descriptor left: tried again with the next bytes.
    }
    return this.#fd;
  }
}

function takesItsWholeLength(fd: number, size: number, cap: number): boolean {
  const { blocks, blksize } = fstatSync(fd);
  return size > 2 * cap && blocks * 512 + blksize >= size;
}
