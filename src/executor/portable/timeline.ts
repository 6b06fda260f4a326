import { closeSync, constants, openSync } from "node:fs";
import { dropMiddle, writeAll } from "./drop-middle.ts";
import type { Sink } from "./stream-file.ts";

/** As docs/keeper.md describes the file, and as the native keeper writes it. */
const HEADER = 128;
const BLOCK = 4096;
const BLOCK_HEADER = 32;
const RECORDS = (BLOCK - BLOCK_HEADER) / 8;
/** 8 MiB; half of them head, half tail. */
const KEEP_BLOCKS = 2048;
const LONGEST = 2 ** 30 - 1;
const LONGEST_MS = 2 ** 32 - 1;
/** Two reads of one stream this close are one record. */
const COALESCE_MS = 8;
const LOST = 2;
const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;

/** Which stream grew by how much, when. */
export class Timeline {
  readonly #path: string;
  readonly #startUnixMs: number;
  #fd: number | null = null;
  #block = 0;
  #baseMs = 0;
  #holeEnd = KEEP_BLOCKS / 2;
  #used = 0;
  #flushed = 0;
  #bytes = Buffer.alloc(BLOCK);

  constructor(path: string, startUnixMs: number) {
    this.#path = path;
    this.#startUnixMs = startUnixMs;
  }

  /** Notes that so many bytes came on a stream now. `offsets`: the streams' sizes before that. */
  grew(stream: number, length: number, offsets: readonly number[], sinceStartMs: number): void {
    this.#add(stream, length, offsets, Math.floor(sinceStartMs));
  }

  lost(stream: number, length: number, offsets: readonly number[], sinceStartMs: number): void {
    this.#add(LOST + stream, length, offsets, Math.floor(sinceStartMs));
  }

  /** Writes what was noted since. */
  flush(streams: readonly Sink[]): void {
    if (this.#used === this.#flushed) return;
    const first = this.#fd === null;
    const grew = this.#growOwnHole();
    if (first || grew) this.publish(streams);
    this.#writePending();
    if (grew && this.#fd !== null) {
      const at = (block: number) => HEADER + block * BLOCK;
      const size = at(this.#block) + BLOCK_HEADER + this.#used * 8;
      dropMiddle(this.#fd, at(KEEP_BLOCKS / 2), at(this.#holeEnd), size);
    }
  }

  /** Rewrites the header: readers learn of holes from it, so it goes out before anything is dropped. */
  publish(streams: readonly Sink[]): void {
    const header = Buffer.alloc(HEADER);
    header.write("SPTL");
    header.writeUInt32LE(1, 4);
    put(header, 8, this.#startUnixMs);
    header.writeUInt32LE(streams.length, 16);
    put(header, 24, streams[0]?.cap ?? 0);
    for (const [i, { holeStart, holeEnd, lost }] of streams.entries()) {
      const holed = holeEnd > holeStart;
      put(header, 32 + 24 * i, holed ? holeStart : 0);
      put(header, 40 + 24 * i, holed ? holeEnd : 0);
      put(header, 48 + 24 * i, lost);
    }
    const holed = this.#holeEnd > KEEP_BLOCKS / 2;
    put(header, 80, holed ? KEEP_BLOCKS / 2 : 0);
    put(header, 88, holed ? this.#holeEnd : 0);
    const fd = this.#open();
    if (fd !== null) writeAll(fd, header, 0);
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #add(kind: number, length: number, offsets: readonly number[], ms: number): void {
    if (length === 0 || length > LONGEST || this.#extendLast(kind, length, ms)) return;
    if (this.#used === RECORDS || (this.#used > 0 && ms - this.#baseMs > LONGEST_MS)) {
      this.#writePending();
      this.#block++;
      this.#used = 0;
    }
    if (this.#used === 0) this.#beginBlock(offsets, ms);
    const at = BLOCK_HEADER + this.#used * 8;
    this.#bytes.writeUInt32LE(ms - this.#baseMs, at);
    this.#bytes.writeUInt32LE(kind * 2 ** 30 + length, at + 4);
    this.#used++;
  }

  #extendLast(kind: number, length: number, ms: number): boolean {
    if (this.#used === this.#flushed) return false; // already in the file
    const at = BLOCK_HEADER + (this.#used - 1) * 8;
    const since = ms - this.#baseMs - this.#bytes.readUInt32LE(at);
    const before = this.#bytes.readUInt32LE(at + 4);
    if (before >>> 30 !== kind || (before & LONGEST) + length > LONGEST || since > COALESCE_MS) return false;
    this.#bytes.writeUInt32LE(before + length, at + 4);
    return true;
  }

  #beginBlock(offsets: readonly number[], ms: number): void {
    this.#bytes.fill(0);
    this.#baseMs = ms;
    put(this.#bytes, 0, ms);
    put(this.#bytes, 8, offsets[0] ?? 0);
    put(this.#bytes, 16, offsets[1] ?? 0);
    this.#flushed = 0;
  }

  #writePending(): void {
    const fd = this.#open();
    if (fd === null || this.#flushed === this.#used) return;
    const from = this.#flushed > 0 ? BLOCK_HEADER + this.#flushed * 8 : 0;
    const to = BLOCK_HEADER + this.#used * 8;
    writeAll(fd, this.#bytes.subarray(from, to), HEADER + this.#block * BLOCK + from);
    this.#flushed = this.#used;
  }

  /** It grows with the number of reads, not of bytes, and is bounded like the streams (promise 6). */
  #growOwnHole(): boolean {
    const tail = KEEP_BLOCKS / 2;
    if (this.#block < tail + this.#holeEnd + KEEP_BLOCKS / 8) return false;
    this.#holeEnd = this.#block - tail;
    return true;
  }

  #open(): number | null {
    try {
      this.#fd ??= openSync(this.#path, O_RDWR | O_CREAT | (O_NOFOLLOW ?? 0), 0o600);
    } catch {
      // Readers fall back on the streams themselves.
    }
    return this.#fd;
  }
}

function put(bytes: Buffer, at: number, value: number): void {
  bytes.writeBigUInt64LE(BigInt(value), at);
}
