import { setImmediate } from "node:timers/promises";
import type { Repaint, Screen, TerminalSize } from "../../core/terminal.ts";
import type { SizeChange } from "../../executor/session-data.ts";
import { closeSessionLog, holeOf, openSessionLog, readStream, streamSize } from "../logs/session-log.ts";
import { readCheckpoint, writeCheckpoint } from "./checkpoint.ts";
import { Emulator, type ScreenOptions } from "./emulator.ts";
import { readTerminalHistory } from "./history.ts";
import { ModeTracker } from "./mode-tracker.ts";

/** The number of bytes up to which output is always drawn in full, which takes about 50 ms. */
const ALWAYS_DRAWN = 1 << 20;

/**
 * The maximum number of bytes of output that are drawn. A full-screen program usually repaints its whole screen within
 * this amount.
 */
const MOST_DRAWN = 4 << 20;

/** The maximum number of bytes of output that are scanned for modes. */
const MOST_SKIMMED = 128 << 20;

/**
 * Returns where to start drawing a long output. If its end consists of plain lines, only enough of them to fill the
 * screen and the scrollback are drawn, which gives the same result as drawing everything. If the output moves the
 * cursor, only its last megabytes are drawn, with the modes that were set before them.
 */
function replayStart(reader: LogReader, from: number, end: number, emulator: Emulator): number {
  if (end - from <= ALWAYS_DRAWN) return from;
  const enough = emulator.scrollbackRows + 2 * emulator.size.rows;
  let lineFeeds = 0;
  let placings = 0;
  for (let start = end; start > from && end - start < MOST_DRAWN; start -= BLOCK_BYTES) {
    const block = new ModeTracker();
    for (const { bytes } of reader.between(Math.max(from, start - BLOCK_BYTES), start)) block.push(bytes);
    lineFeeds += block.lineFeeds;
    placings += block.cursorMoves;
    if (placings === 0 && lineFeeds > enough) return Math.max(from, start - BLOCK_BYTES);
  }
  return Math.max(from, end - MOST_DRAWN);
}

/** Returns where to start scanning for modes. */
function modeScanStart(from: number, end: number): number {
  return Math.max(from, end - MOST_SKIMMED);
}

const BLOCK_BYTES = 256 * 1024;

/** Consecutive bytes of the log. `gap` is true when the bytes right before it were dropped because of the disk cap. */
interface LogPiece {
  offset: number;
  bytes: Uint8Array;
  gap: boolean;
}

/** Reads the single stream of a terminal session by offset. */
class LogReader {
  readonly #log;

  constructor(folder: string) {
    this.#log = openSessionLog(folder, "merged");
  }

  get size(): number {
    return streamSize(this.#log, 0);
  }

  /** Yields the bytes between two offsets in blocks, skipping ranges that were dropped because of the disk cap. */
  *between(from: number, to: number): Generator<LogPiece> {
    let gap = false;
    for (let at = from; at < to; ) {
      const bytes = readStream(this.#log, 0, at, Math.min(BLOCK_BYTES, to - at));
      if (bytes.length > 0) {
        yield { offset: at, bytes, gap };
        at += bytes.length;
        gap = false;
        continue;
      }
      const hole = holeOf(this.#log, 0);
      if (hole.start > at || hole.end <= at) return;
      at = hole.end;
      gap = true;
    }
  }

  close(): void {
    closeSessionLog(this.#log);
  }
}

/** Bytes drawn between checkpoints; they take about 0.2 s to draw. */
const CHECKPOINT_EVERY = 4 << 20;

/**
 * The maximum CPU time for drawing output. If output takes longer (it may be malicious), only its last bytes are drawn.
 */
const DRAW_CPU_LIMIT_US = 3_000_000;
const LAST_BYTES = 64 * 1024;

const DEFAULT_SIZE: TerminalSize = { columns: 120, rows: 30 };
const CANCEL = Uint8Array.of(0x18);

/** The terminal of a session, rendered from its log up to where the log was last read. */
export class LogTerminal {
  readonly #folder: string;
  readonly #reader: LogReader;
  #emulator: Emulator;
  #offset = 0;
  #saved = 0;

  private constructor(folder: string, size: TerminalSize) {
    this.#folder = folder;
    this.#reader = new LogReader(folder);
    this.#emulator = new Emulator(size);
  }

  /** Renders the log, from the last valid checkpoint if there is one. */
  static async open(folder: string): Promise<LogTerminal> {
    const terminal = new LogTerminal(folder, sizesOf(folder)[0] ?? DEFAULT_SIZE);
    try {
      await terminal.#restore();
      await terminal.catchUp();
    } catch (error) {
      terminal.close();
      throw error;
    }
    return terminal;
  }

  async #restore(): Promise<void> {
    const checkpoint = readCheckpoint(this.#folder, this.#reader.size);
    if (!checkpoint) return;
    this.#emulator.dispose();
    this.#emulator = new Emulator(checkpoint.size);
    await this.#emulator.feed(checkpoint.output);
    this.#offset = checkpoint.offset;
    this.#saved = checkpoint.offset;
  }

  /** Draws the output written since the last call. */
  async catchUp(): Promise<void> {
    const end = this.#reader.size;
    const sizes = sizesOf(this.#folder);
    const from = replayStart(this.#reader, this.#offset, end, this.#emulator);
    await this.#skipTo(from);
    if (!(await this.#draw(end, sizes))) {
      await this.#skipTo(Math.max(this.#offset, end - LAST_BYTES));
      await this.#draw(end, sizes);
    }
    if (this.#offset - this.#saved >= CHECKPOINT_EVERY) this.#save();
  }

  /** Skips output, tracking only the modes that it sets. */
  async #skipTo(to: number): Promise<void> {
    if (to <= this.#offset) return;
    const { tracker } = this.#emulator;
    for (const { bytes, gap } of this.#reader.between(modeScanStart(this.#offset, to), to)) {
      if (gap) tracker.push(CANCEL);
      tracker.push(bytes);
      await setImmediate();
    }
    this.#offset = to;
    // Drawing resumes after the current sequence; one that is too long is cancelled.
    for (const { bytes } of this.#reader.between(to, to + LAST_BYTES)) {
      for (let at = 0; at < bytes.length && !tracker.isSettled; at++) {
        tracker.push(bytes.subarray(at, at + 1));
        this.#offset++;
      }
      break;
    }
    await this.#emulator.feed(tracker.prelude());
  }

  /** Draws up to `end`. Returns false when it takes too much CPU time. */
  async #draw(end: number, sizes: readonly SizeChange[]): Promise<boolean> {
    const begun = process.cpuUsage();
    for (let at = this.#offset; ; at = this.#offset) {
      const size = sizes.findLast(({ offset }) => offset <= at);
      if (size) this.#emulator.resize(size);
      if (at >= end) return true;
      const next = sizes.find(({ offset }) => offset > at)?.offset ?? end;
      for (const { offset, bytes, gap } of this.#reader.between(at, Math.min(end, next))) {
        if (gap) await this.#emulator.feed(CANCEL);
        await this.#emulator.feed(bytes);
        this.#offset = offset + bytes.length;
        const isLong = end - this.#offset > LAST_BYTES + BLOCK_BYTES;
        if (isLong && process.cpuUsage(begun).user > DRAW_CPU_LIMIT_US) return false;
      }
      // Bytes missing at the end were dropped, or are still being written.
      if (this.#offset < Math.min(end, next)) this.#offset = Math.min(end, next);
    }
  }

  #save(): void {
    const output = this.#emulator.serialize();
    if (output === null) return;
    writeCheckpoint(this.#folder, { offset: this.#offset, size: this.#emulator.size, output });
    this.#saved = this.#offset;
  }

  screen(options?: ScreenOptions): Screen {
    return { ...this.#emulator.screen(options), offset: this.#offset };
  }

  /** Returns a repaint. Its offset precedes an incomplete sequence, which is sent with the output that follows. */
  repaint(): Repaint {
    const { output, unfinished } = this.#emulator.repaint();
    return { ...this.#emulator.size, output, offset: this.#offset - unfinished };
  }

  /** Returns the scrollback and the screen as text. */
  text(): string {
    return this.#emulator.text();
  }

  close(): void {
    this.#emulator.dispose();
    this.#reader.close();
  }
}

function sizesOf(folder: string): SizeChange[] {
  const history = readTerminalHistory(folder);
  return history && "sizes" in history ? history.sizes : [];
}
