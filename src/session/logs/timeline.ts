import { closeFile, type LogFile, logFile, readAt, sizeOf } from "./log-file.ts";

/**
 * The timeline as the keeper writes it, little endian.
 *
 *   file    128 bytes of header, then blocks of 4096 bytes, the last one possibly partial
 *   header  "SPTL", u32 version, u64 start (unix ms), u32 streams, u32 0, u64 cap,
 *           two of { u64 hole start, u64 hole end, u64 lost }, u64 first and u64 end of the punched blocks
 *   block   u64 time base (ms since start), u64 offset of stream 0, u64 offset of stream 1, u64 0, then records
 *   record  u32 ms since the time base, u32 kind << 30 | length; a length of 0 ends the block
 *
 * The content is not trusted: after a crash or on a full disk, the file may be truncated or contain garbage.
 */
const HEADER_BYTES = 128;
const BLOCK_BYTES = 4096;
const BLOCK_HEADER_BYTES = 32;
const RECORD_BYTES = 8;

const VERSION = 1;

/** The largest valid date; `toISOString` throws for later ones. */
const LAST_DATE_MS = 8.64e15;

/** A half-open range; empty when `end <= start`. */
export interface Range {
  start: number;
  end: number;
}

export interface TimelineHeader {
  /** False when the timeline is missing, damaged or of another version, so that its blocks cannot be read. */
  valid: boolean;
  startMs: number;
  /** The number of bytes that are stored of each stream at most; 0 for no limit. */
  cap: number;
  /** The range punched out of each stream. */
  holes: readonly [Range, Range];
  /** Bytes of each stream that never reached the disk. */
  lost: readonly [number, number];
  /** The range of blocks punched out of the timeline itself. */
  blockHole: Range;
}

export interface BlockHeader {
  baseMs: number;
  offsets: readonly [number, number];
}

export interface Block extends BlockHeader {
  /** The records, possibly followed by garbage after the first record of length 0. */
  records: Buffer;
}

const NOTHING: Range = { start: 0, end: 0 };

const NO_HEADER: TimelineHeader = {
  valid: false,
  startMs: 0,
  cap: 0,
  holes: [NOTHING, NOTHING],
  lost: [0, 0],
  blockHole: NOTHING,
};

/** Reads a u64, clamped to the largest safe integer; readers clamp such offsets to the file's size. */
function u64(bytes: Buffer, at: number): number {
  const value = bytes.readUInt32LE(at + 4) * 0x1_0000_0000 + bytes.readUInt32LE(at);
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

function range(bytes: Buffer, at: number): Range {
  return { start: u64(bytes, at), end: u64(bytes, at + 8) };
}

function parseHeader(bytes: Buffer): TimelineHeader {
  if (bytes.length < HEADER_BYTES || bytes.toString("latin1", 0, 4) !== "SPTL" || bytes.readUInt32LE(4) !== VERSION) {
    return NO_HEADER;
  }
  return {
    valid: true,
    startMs: u64(bytes, 8),
    cap: u64(bytes, 24),
    holes: [range(bytes, 32), range(bytes, 56)],
    lost: [u64(bytes, 48), u64(bytes, 72)],
    blockHole: range(bytes, 80),
  };
}

function parseBlockHeader(bytes: Buffer): BlockHeader {
  return { baseMs: u64(bytes, 0), offsets: [u64(bytes, 8), u64(bytes, 16)] };
}

function parseBlock(bytes: Buffer): Block {
  return { ...parseBlockHeader(bytes), records: bytes.subarray(BLOCK_HEADER_BYTES) };
}

interface Record {
  timeMs: number | null;
  stream: 0 | 1;
  length: number;
  lost: boolean;
}

export function* recordsOf(block: Block, startMs: number): Generator<Record> {
  const { records } = block;
  for (let at = 0; at + RECORD_BYTES <= records.length; at += RECORD_BYTES) {
    const what = records.readUInt32LE(at + 4);
    const length = what & 0x3fff_ffff;
    if (length === 0) return;
    const kind = what >>> 30;
    const timeMs = startMs + block.baseMs + records.readUInt32LE(at);
    yield { timeMs: timeMs > LAST_DATE_MS ? null : timeMs, stream: (kind & 1) as 0 | 1, length, lost: kind >= 2 };
  }
}

/** How many times a search is tried if blocks are punched out during it, before it falls back to the first block. */
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
 * Reads the header again. The keeper announces a hole in the header before punching it, so a reader must refresh the
 * header after reading data, to tell NULs in the output from a hole.
 */
export function refreshHeader(timeline: Timeline): TimelineHeader {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES);
  timeline.header = parseHeader(bytes.subarray(0, readAt(timeline.file, bytes, 0)));
  return timeline.header;
}

/** Returns the number of blocks written so far, including punched blocks and a partial last block. */
export function blockCount(timeline: Timeline): number {
  if (!timeline.header.valid && !refreshHeader(timeline).valid) return 0;
  const bytes = sizeOf(timeline.file) - HEADER_BYTES;
  const partial = bytes % BLOCK_BYTES >= BLOCK_HEADER_BYTES + RECORD_BYTES ? 1 : 0;
  return Math.max(0, Math.floor(bytes / BLOCK_BYTES) + partial);
}

/** Returns the next block that is not punched out. */
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

/** Detects a block punched out after the header was read: it is all NULs. Only the first block may start with NULs. */
function isBlank(header: BlockHeader, index: number): boolean {
  return index > 0 && header.baseMs === 0 && header.offsets[0] === 0 && header.offsets[1] === 0;
}

/** Reads a block; null when it does not exist or has been punched out. */
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
 * Returns the last block whose `key` (an offset or a time) is below `value`, or 0. Keys must not decrease from block to
 * block; in a corrupt timeline, where they do, the result is an arbitrary block.
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
  // The search ignores punched blocks: position n is the nth block that still exists.
  const hole = timeline.header.blockHole;
  const punched = Math.max(0, Math.min(hole.end, written) - hole.start);
  const blockAt = (position: number) => (punched > 0 && position >= hole.start ? position + punched : position);
  let low = 0;
  let high = Math.max(0, written - punched - 1);
  // Followers mostly read the end, so the search starts there.
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
