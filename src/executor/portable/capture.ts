import { closeSync, constants, fdatasyncSync, ftruncateSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Capture as Mode, StreamInfo } from "../../core/session.ts";
import { LogFile } from "./log-file.ts";
import { writeAll } from "./write-all.ts";

const PAGE = 4096;
const CAP_MIN = 64 << 10;
/** The maximum size of the tail in bytes. The tail is held in memory while it is moved. */
const TAIL_MAX = 16 << 20;
const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;

/**
 * A file for output with a limit on its disk space (invariant 6). When it exceeds the cap, its middle is dropped: half
 * of the cap is the head, and a quarter to a half of it is the tail. Offsets do not change.
 */
class StreamFile {
  readonly cap: number;
  /** The number of bytes accepted, including dropped ones. */
  size = 0;
  readonly holeStart: number;
  holeEnd: number;
  /** The number of bytes that could not be written. They have no offset. */
  lost = 0;
  /** The number of NULs at the end. */
  nuls = 0;
  readonly #path: string;
  readonly #tail: number;
  #fd: number | null = null;
  #cannotDrop = false;

  /** Creates a stream. The file is created with the first byte. */
  constructor(path: string, cap: number) {
    this.#path = path;
    this.cap = cap > 0 && cap < CAP_MIN ? CAP_MIN : cap;
    this.holeStart = pageAfter(this.cap / 2);
    this.holeEnd = this.holeStart;
    this.#tail = Math.min(this.cap / 4, TAIL_MAX);
  }

  /** Appends output and returns the number of bytes written. Never throws: the rest is counted as lost. */
  append(bytes: Uint8Array): number {
    const space = this.#cannotDrop ? Math.max(0, this.cap - this.size) : bytes.length;
    this.#fd ??= openOrCreate(this.#path);
    const written = this.#fd === null || space === 0 ? 0 : writeAll(this.#fd, bytes.subarray(0, space), this.size);
    this.#countNuls(bytes.subarray(0, written));
    this.size += written;
    this.lost += bytes.length - written;
    return written;
  }

  /** Counts the NULs at the end: a file system may replace unwritten data with more when the machine loses power. */
  #countNuls(bytes: Uint8Array): void {
    let end = bytes.length;
    while (end > 0 && bytes[end - 1] === 0) end--;
    this.nuls = end === 0 ? this.nuls + bytes.length : bytes.length - end;
  }

  /** Extends the hole if the cap is exceeded. If the result is true, publish the hole to readers, then call `drop`. */
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

  sync(): void {
    if (this.#fd !== null) fdatasyncSync(this.#fd);
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

function pageAfter(offset: number): number {
  return Math.ceil(offset / PAGE) * PAGE;
}

/** Opens a file, creating it if necessary. Returns null if that fails; the next write tries again. */
function openOrCreate(path: string): number | null {
  try {
    return openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  } catch {
    return null;
  }
}

/**
 * Frees [start, end) of a file of `size` bytes. Node cannot punch holes: the file is truncated at `start` and its tail
 * written again at its offset, so the gap takes no space in a sparse file. In between, readers see a shorter file, but
 * never wrong bytes. Returns the new length.
 */
function dropRange(fd: number, start: number, end: number, size: number): number {
  const tail = Buffer.allocUnsafe(size - end);
  let filled = 0;
  for (let count = 1; count > 0 && filled < tail.length; filled += count) {
    count = readSync(fd, tail, filled, tail.length - filled, end + filled);
  }
  ftruncateSync(fd, start);
  const written = writeAll(fd, tail.subarray(0, filled), end);
  return written === 0 ? start : end + written;
}

/** The format of the timeline file, as docs/keeper-protocol.md describes it. */
const HEADER = 128;
const BLOCK = 4096;
const BLOCK_HEADER = 32;
const RECORDS = (BLOCK - BLOCK_HEADER) / 8;
/** The maximum number of blocks (8 MiB): half of them head, half of them tail. */
const KEEP_BLOCKS = 2048;
const LENGTH_MAX = 2 ** 30 - 1;
const INTERVAL_MAX_MS = 2 ** 32 - 1;
/** Reads of one stream within this time are combined into one record. */
const COALESCE_MS = 8;
const LOST = 2;

/** Stores the output of a session: stdout and stderr, or both in one stream. */
export class Capture {
  readonly streams: readonly StreamFile[];
  readonly #log: LogFile | null;
  readonly #timeline: Timeline;
  readonly #startedMs = performance.now();

  /** Creates a capture. `log` is the descriptor of the log file, if one was requested. */
  constructor(folder: string, mode: Mode, diskCap: number, log: number | null, startUnixMs: number) {
    const names = mode === "merged" ? ["output"] : ["stdout", "stderr"];
    this.streams = names.map((name) => new StreamFile(join(folder, name), diskCap));
    this.#log = log === null ? null : new LogFile(log, diskCap);
    this.#timeline = new Timeline(join(folder, "timeline"), startUnixMs);
  }

  /** The sizes of the streams in bytes. */
  get bytes(): number[] {
    return this.streams.map(({ size }) => size);
  }

  store(stream: number, bytes: Uint8Array): void {
    const file = this.streams[stream] as StreamFile;
    const sinceStartMs = Math.floor(performance.now() - this.#startedMs);
    const before = this.bytes;
    const written = file.append(bytes);
    this.#timeline.add(stream, written, before, sinceStartMs);
    this.#timeline.add(LOST + stream, bytes.length - written, this.bytes, sinceStartMs);
    if (file.growHole()) {
      this.#timeline.publish(this.streams);
      file.drop();
    }
    this.#log?.append(bytes);
  }

  flush(): void {
    this.#timeline.flush(this.streams);
  }

  /** Completes the timeline. Returns the streams for the exit record. */
  finish(): StreamInfo[] {
    this.flush();
    if (this.streams.some(({ lost }) => lost > 0)) this.#timeline.publish(this.streams);
    return this.streams.map(({ size, holeStart, holeEnd, lost }) => {
      const holed = holeEnd > holeStart;
      return { bytes: size, droppedStart: holed ? holeStart : 0, droppedEnd: holed ? holeEnd : 0, lost };
    });
  }

  /** Flushes everything to the disk. Best effort: the exit is reported in any case. */
  sync(): void {
    for (const file of [...this.streams, this.#log, this.#timeline]) {
      try {
        file?.sync();
      } catch {
        // The disk is full or damaged.
      }
    }
  }

  close(): void {
    for (const stream of this.streams) stream.close();
    this.#log?.close();
    this.#timeline.close();
  }
}

/** Writes the file `timeline`, which records when each stream grew and by how much. */
class Timeline {
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

  /**
   * Adds a record. `kind` is the stream, plus `LOST` for lost bytes. `offsets` has the sizes of the streams before this
   * output.
   */
  add(kind: number, length: number, offsets: readonly number[], ms: number): void {
    if (length === 0 || length > LENGTH_MAX || this.#extendLast(kind, length, ms)) return;
    if (this.#used === RECORDS || (this.#used > 0 && ms - this.#baseMs > INTERVAL_MAX_MS)) {
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

  /** Writes the records added since the last flush. */
  flush(streams: readonly StreamFile[]): void {
    if (this.#used === this.#flushed) return;
    const first = this.#fd === null;
    const grew = this.#growOwnHole();
    if (first || grew) this.publish(streams);
    this.#writePending();
    if (grew && this.#fd !== null) {
      const at = (block: number) => HEADER + block * BLOCK;
      const size = at(this.#block) + BLOCK_HEADER + this.#used * 8;
      dropRange(this.#fd, at(KEEP_BLOCKS / 2), at(this.#holeEnd), size);
    }
  }

  /** Rewrites the header. It lists the holes, so it is written before anything is dropped. */
  publish(streams: readonly StreamFile[]): void {
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

  sync(): void {
    if (this.#fd !== null) fdatasyncSync(this.#fd);
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #extendLast(kind: number, length: number, ms: number): boolean {
    if (this.#used === this.#flushed) return false; // already in the file
    const at = BLOCK_HEADER + (this.#used - 1) * 8;
    const since = ms - this.#baseMs - this.#bytes.readUInt32LE(at);
    const before = this.#bytes.readUInt32LE(at + 4);
    if (before >>> 30 !== kind || (before & LENGTH_MAX) + length > LENGTH_MAX || since > COALESCE_MS) return false;
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

  /** Extends the hole of the timeline itself, which grows with the number of reads (invariant 6). */
  #growOwnHole(): boolean {
    const tail = KEEP_BLOCKS / 2;
    if (this.#block < tail + this.#holeEnd + KEEP_BLOCKS / 8) return false;
    this.#holeEnd = this.#block - tail;
    return true;
  }

  /** Opens the file. Returns null if that fails; readers then use only the streams. */
  #open(): number | null {
    this.#fd ??= openOrCreate(this.#path);
    return this.#fd;
  }
}

function put(bytes: Buffer, at: number, value: number): void {
  bytes.writeBigUInt64LE(BigInt(value), at);
}
