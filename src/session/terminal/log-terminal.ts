import { setImmediate } from "node:timers/promises";
import type { Repaint, Screen, TerminalSize } from "../../core/terminal.ts";
import type { SizeChange } from "../../executor/session-data.ts";
import { closeSessionLog, holeOf, openSessionLog, readStream, streamSize } from "../logs/session-log.ts";
import { readCheckpoint, writeCheckpoint } from "./checkpoint.ts";
import { Emulator, type ScreenOptions } from "./emulator.ts";
import { readTerminalHistory } from "./history.ts";
import { ModeTracker } from "./mode-tracker.ts";

/** As much is always drawn: some 50 ms. */
const ALWAYS_DRAWN = 1 << 20;

/** No more than this is drawn at once: a full-screen program has painted all of its screen anew by then. */
const MOST_DRAWN = 4 << 20;

/** No more than this is looked through for modes at all. */
const MOST_SKIMMED = 128 << 20;

/**
 * Where to begin, so that the screen at the end of a long output is known soon. An output of plain lines is drawn from
 * where enough of them are left to push everything else off the screen and out of what is kept above it: the result
 * is the same. One that paints the screen is drawn from its last megabytes, in the modes that were set before.
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

/** Where to begin to look for modes. */
function modeScanStart(from: number, end: number): number {
  return Math.max(from, end - MOST_SKIMMED);
}

const BLOCK_BYTES = 256 * 1024;

/** A run of bytes of the log; `gap`: what came right before it is gone, punched out for the disk cap. */
interface LogPiece {
  offset: number;
  bytes: Uint8Array;
  gap: boolean;
}

/** A terminal session's one stream, read by offset. */
class LogReader {
  readonly #log;

  constructor(folder: string) {
    this.#log = openSessionLog(folder, "merged");
  }

  get size(): number {
    return streamSize(this.#log, 0);
  }

  /** What is between two offsets, in blocks, without what was punched out. */
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

/** So much more drawn is worth a checkpoint: a fifth of a second. */
const CHECKPOINT_EVERY = 4 << 20;

/** An output made to be slow is not drawn to its end: after so much CPU time it goes on with its last bytes. */
const DRAW_CPU_LIMIT_US = 3_000_000;
const LAST_BYTES = 64 * 1024;

const DEFAULT_SIZE: TerminalSize = { columns: 120, rows: 30 };
const CANCEL = Uint8Array.of(0x18);

/** The terminal of a session as its log tells it, up to where the log was last read. */
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

  /** From the last checkpoint, if there is a whole one, else from the beginning. */
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

  /** Draws what was written since. */
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

  /** Passes over output, minding only the modes it sets. */
  async #skipTo(to: number): Promise<void> {
    if (to <= this.#offset) return;
    const { tracker } = this.#emulator;
    for (const { bytes, gap } of this.#reader.between(modeScanStart(this.#offset, to), to)) {
      if (gap) tracker.push(CANCEL);
      tracker.push(bytes);
      await setImmediate();
    }
    this.#offset = to;
    // Drawing goes on at the end of a sequence, or else it is broken off.
    for (const { bytes } of this.#reader.between(to, to + LAST_BYTES)) {
      for (let at = 0; at < bytes.length && !tracker.isSettled; at++) {
        tracker.push(bytes.subarray(at, at + 1));
        this.#offset++;
      }
      break;
    }
    await this.#emulator.feed(tracker.prelude());
  }

  /** False: it takes too long. */
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
      // What is missing at the end was punched out, or is being written.
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

  /** A sequence that was begun is left to what follows. */
  repaint(): Repaint {
    const { output, unfinished } = this.#emulator.repaint();
    return { ...this.#emulator.size, output, offset: this.#offset - unfinished };
  }

  /** What scrolled off and what is on the screen. */
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
