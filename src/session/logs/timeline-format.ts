/**
 * The timeline as the keeper writes it, little endian.
 *
 *   file    128 bytes of header, then blocks of 4096 bytes, the last one possibly partial
 *   header  "SPTL", u32 version, u64 start (unix ms), u32 streams, u32 0, u64 cap,
 *           two of { u64 hole start, u64 hole end, u64 lost }, u64 first and u64 end of the punched blocks
 *   block   u64 time base (ms since start), u64 offset of stream 0, u64 offset of stream 1, u64 0, then records
 *   record  u32 ms since the time base, u32 kind << 30 | length; a length of 0 ends the block
 *
 * Nothing a file claims is trusted: it may be cut short or hold garbage after a crash or on a full disk.
 */
export const HEADER_BYTES = 128;
export const BLOCK_BYTES = 4096;
export const BLOCK_HEADER_BYTES = 32;
export const RECORD_BYTES = 8;

const VERSION = 1;

/** Times beyond this are no dates, and would make `toISOString` throw. */
const LAST_DATE_MS = 8.64e15;

/** A half-open range; empty when `end <= start`. */
export interface Range {
  start: number;
  end: number;
}

export interface TimelineHeader {
  /** False for a missing, foreign or newer timeline: then there are no blocks to read either. */
  valid: boolean;
  startMs: number;
  /** What was punched out of each stream. */
  holes: readonly [Range, Range];
  /** Bytes of each stream that never reached the disk. */
  lost: readonly [number, number];
  /** What was punched out of the timeline itself, in blocks. */
  blockHole: Range;
}

export interface BlockHeader {
  baseMs: number;
  offsets: readonly [number, number];
}

export interface Block extends BlockHeader {
  /** The records, and possibly garbage after the first of length 0. */
  records: Buffer;
}

const NOTHING: Range = { start: 0, end: 0 };

export const NO_HEADER: TimelineHeader = {
  valid: false,
  startMs: 0,
  holes: [NOTHING, NOTHING],
  lost: [0, 0],
  blockHole: NOTHING,
};

/** As a number; what a number cannot hold becomes the largest it can, which every reader then cuts to the file's size. */
function u64(bytes: Buffer, at: number): number {
  const value = bytes.readUInt32LE(at + 4) * 0x1_0000_0000 + bytes.readUInt32LE(at);
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

function range(bytes: Buffer, at: number): Range {
  return { start: u64(bytes, at), end: u64(bytes, at + 8) };
}

export function parseHeader(bytes: Buffer): TimelineHeader {
  if (bytes.length < HEADER_BYTES || bytes.toString("latin1", 0, 4) !== "SPTL" || bytes.readUInt32LE(4) !== VERSION) {
    return NO_HEADER;
  }
  return {
    valid: true,
    startMs: u64(bytes, 8),
    holes: [range(bytes, 32), range(bytes, 56)],
    lost: [u64(bytes, 48), u64(bytes, 72)],
    blockHole: range(bytes, 80),
  };
}

export function parseBlockHeader(bytes: Buffer): BlockHeader {
  return { baseMs: u64(bytes, 0), offsets: [u64(bytes, 8), u64(bytes, 16)] };
}

export function parseBlock(bytes: Buffer): Block {
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
