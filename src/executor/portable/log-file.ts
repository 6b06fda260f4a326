import { closeSync, fdatasyncSync, ftruncateSync, readSync } from "node:fs";
import { counted, exactSize } from "../../text/format.ts";
import { writeAll } from "./write-all.ts";

const CAP_MIN = 64 << 10;
/** The maximum size of the tail in bytes. The tail is held in memory while it is moved. */
const TAIL_MAX = 16 << 20;
const LINE_SEARCH = 64 << 10;
const LINE_FEED = 0x0a;

/**
 * The plain text file that a request names for the output of both streams. It has no holes: beyond the cap its middle
 * is removed, and a line in its place says how much is missing (invariants 4 and 6). See native/io/log_file.c.
 */
export class LogFile {
  readonly #fd: number;
  readonly #cap: number;
  #size = 0;
  /** Where the middle was removed; 0 until then. */
  #head = 0;
  /** The length of the line in its place. */
  #mark = 0;
  #dropped = 0;
  #unwritten = 0;
  #stuck = false;

  /** Takes over a descriptor that is open for reading and writing. */
  constructor(fd: number, cap: number) {
    this.#fd = fd;
    this.#cap = cap > 0 && cap < CAP_MIN ? CAP_MIN : cap;
  }

  append(bytes: Uint8Array): void {
    if (this.#unwritten > 0 && !this.#stuck) this.#markUnwritten();
    const kept = this.#unwritten > 0 || this.#stuck ? 0 : writeAll(this.#fd, bytes, this.#size);
    this.#size += kept;
    this.#unwritten += bytes.length - kept;
    if (this.#cap > 0 && this.#size > this.#cap && !this.#stuck) this.#stuck = !this.#removeMiddle();
  }

  sync(): void {
    fdatasyncSync(this.#fd);
  }

  close(): void {
    if (this.#unwritten > 0) this.#markUnwritten();
    closeSync(this.#fd);
  }

  #removeMiddle(): boolean {
    try {
      const head = this.#head || this.#lineEndBefore(Math.floor(this.#cap / 2));
      const rest = this.#read(this.#size - Math.min(Math.floor(this.#cap / 4), TAIL_MAX), this.#size);
      const tail = rest.subarray(rest.subarray(0, Math.min(LINE_SEARCH, rest.length / 2)).indexOf(LINE_FEED) + 1);
      const dropped = this.#dropped + this.#size - tail.length - (head + this.#mark);
      const lead = this.#read(head - 1, head)[0] === LINE_FEED ? "" : "\n";
      const what = `${counted(dropped, "byte")} were dropped: over the ${exactSize(this.#cap)} limit of this file`;
      const mark = Buffer.from(`${lead}[... ${what} ...]\n`);
      const moved = Buffer.concat([mark, tail]);
      if (writeAll(this.#fd, moved, head) < moved.length) return false;
      ftruncateSync(this.#fd, head + moved.length);
      this.#head = head;
      this.#mark = mark.length;
      this.#dropped = dropped;
      this.#size = head + moved.length;
      return true;
    } catch {
      return false;
    }
  }

  #lineEndBefore(end: number): number {
    const start = Math.max(0, end - LINE_SEARCH);
    return start + (this.#read(start, end).lastIndexOf(LINE_FEED) + 1 || end - start);
  }

  #read(from: number, to: number): Buffer {
    const bytes = Buffer.allocUnsafe(to - from);
    return bytes.subarray(0, readSync(this.#fd, bytes, 0, bytes.length, from));
  }

  #markUnwritten(): void {
    const mark = Buffer.from(`\n[... ${counted(this.#unwritten, "byte")} are missing: the disk was full ...]\n`);
    if (writeAll(this.#fd, mark, this.#size) < mark.length) return;
    this.#size += mark.length;
    this.#unwritten = 0;
  }
}
