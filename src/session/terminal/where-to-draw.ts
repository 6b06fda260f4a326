import type { Emulator } from "./emulator.ts";
import { BLOCK_BYTES, type LogReader } from "./log-reader.ts";
import { Tracker } from "./mode-tracker.ts";

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
export function whereToDraw(reader: LogReader, from: number, end: number, emulator: Emulator): number {
  if (end - from <= ALWAYS_DRAWN) return from;
  const enough = emulator.scrollbackRows + 2 * emulator.size.rows;
  let lineFeeds = 0;
  let placings = 0;
  for (let start = end; start > from && end - start < MOST_DRAWN; start -= BLOCK_BYTES) {
    const block = new Tracker();
    for (const { bytes } of reader.between(Math.max(from, start - BLOCK_BYTES), start)) block.push(bytes);
    lineFeeds += block.lineFeeds;
    placings += block.placings;
    if (placings === 0 && lineFeeds > enough) return Math.max(from, start - BLOCK_BYTES);
  }
  return Math.max(from, end - MOST_DRAWN);
}

/** Where to begin to look for modes. */
export function whereToSkim(from: number, end: number): number {
  return Math.max(from, end - MOST_SKIMMED);
}
