import { closeFile, type LogFile, logFile, readAt, sizeOf } from "./log-file.ts";
import {
  BLOCK_BYTES,
  BLOCK_HEADER_BYTES,
  type Block,
  type BlockHeader,
  HEADER_BYTES,
  NO_HEADER,
  parseBlock,
  parseBlockHeader,
  parseHeader,
  type Range,
  RECORD_BYTES,
  type TimelineHeader,
} from "./timeline-format.ts";

/** How often a search starts over because blocks were punched out under it, before it gives up and starts at the front. */
const SEARCH_ATTEMPTS = 3;

export interface Timeline {
  readonly file: LogFile;
  header: TimelineHeader;
}

export function openTimeline(path: string): Timeline {
  const timeline = { file: logFile(path), header: NO_HEADER };
  refreshHeader(timeline);
  return timeline;
}

export function closeTimeline(timeline: Timeline): void {
  closeFile(timeline.file);
}

/**
 * Reads the header again. The keeper announces a hole there before it punches it, so whoever read data must look
 * here afterwards before believing the NULs it may have got.
 */
export function refreshHeader(timeline: Timeline): TimelineHeader {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES);
  timeline.header = parseHeader(bytes.subarray(0, readAt(timeline.file, bytes, 0)));
  return timeline.header;
}

/** Blocks written so far, the punched ones and a last partial one included. */
export function blockCount(timeline: Timeline): number {
  if (!timeline.header.valid && !refreshHeader(timeline).valid) return 0;
  const bytes = sizeOf(timeline.file) - HEADER_BYTES;
  const partial = bytes % BLOCK_BYTES >= BLOCK_HEADER_BYTES + RECORD_BYTES ? 1 : 0;
  return Math.max(0, Math.floor(bytes / BLOCK_BYTES) + partial);
}

/** The block to read after this one: the next that is not punched out. */
export function blockAfter(timeline: Timeline, index: number): number {
  return outsideHole(timeline.header.blockHole, index + 1);
}

function outsideHole(hole: Range, index: number): number {
  return hole.start <= index && index < hole.end ? hole.end : index;
}

function readBlockBytes(timeline: Timeline, index: number, length: number): Buffer | null {
  const bytes = Buffer.allocUnsafe(length);
  const filled = readAt(timeline.file, bytes, HEADER_BYTES + index * BLOCK_BYTES);
  return filled < BLOCK_HEADER_BYTES ? null : bytes.subarray(0, filled);
}

/** A block that was punched out since the header was read is all NULs; only the very first may rightly begin so. */
function isBlank(header: BlockHeader, index: number): boolean {
  return index > 0 && header.baseMs === 0 && header.offsets[0] === 0 && header.offsets[1] === 0;
}

/** Null when there is nothing to be had there (any more). */
export function readBlock(timeline: Timeline, index: number): Block | null {
  const bytes = readBlockBytes(timeline, index, BLOCK_BYTES);
  if (bytes === null) return null;
  const block = parseBlock(bytes);
  return isBlank(block, index) ? null : block;
}

function readBlockHeader(timeline: Timeline, index: number): BlockHeader | null {
  const bytes = readBlockBytes(timeline, index, BLOCK_HEADER_BYTES);
  if (bytes === null) return null;
  const header = parseBlockHeader(bytes);
  return isBlank(header, index) ? null : header;
}

/**
 * The last block whose `key` is below `value`, or 0. Keys (an offset, a time) must not fall from block to block;
 * in a garbled timeline they do, and then the answer is some block or other.
 */
export function lastBlockBelow(timeline: Timeline, value: number, key: (header: BlockHeader) => number): number {
  for (let attempt = 0; attempt < SEARCH_ATTEMPTS; attempt++) {
    const found = search(timeline, value, key);
    if (found !== null) return found;
    refreshHeader(timeline);
  }
  return 0;
}

function search(timeline: Timeline, value: number, key: (header: BlockHeader) => number): number | null {
  const written = blockCount(timeline);
  // Searched as if the punched blocks had never been: position n is the nth block that is still there.
  const hole = timeline.header.blockHole;
  const punched = Math.max(0, Math.min(hole.end, written) - hole.start);
  const blockAt = (position: number) => (punched > 0 && position >= hole.start ? position + punched : position);
  let low = 0;
  let high = Math.max(0, written - punched - 1);
  // Followers ask for the end again and again: look there first.
  let middle = high;
  while (low < high) {
    const header = readBlockHeader(timeline, blockAt(middle));
    if (header === null) return null;
    if (key(header) < value) low = middle;
    else high = middle - 1;
    middle = Math.ceil((low + high) / 2);
  }
  return blockAt(low);
}
