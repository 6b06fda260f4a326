import type { Capture, StreamName } from "../../core/session.ts";
import { closeFile, logFile, readAt, sizeOf } from "./log-file.ts";
import {
  completeCharacters,
  continuationBytes,
  flushPartial,
  type PartialCharacters,
  type Piece,
  readPieces,
  takePieces,
  unfinishedBytes,
} from "./pieces.ts";
import { closeSessionLog, openSessionLog, streamNames } from "./session-log.ts";
import { closeTimeline, openTimeline, type Range } from "./timeline.ts";
import { totalBytes, viewOf } from "./view.ts";

/** Bytes of a stream that a foreground run answers with. */
const DEFAULT_TEXT_BYTES = 1024 * 1024;

/** Head and tail of a log, joined. */
interface LogText {
  text: string;
  /** Bytes between head and tail that are not in the text. */
  omittedBytes: number;
  /** Where in the text (a string index) they are missing; null when nothing is. */
  omittedAt: number | null;
}

const EMPTY: LogText = { text: "", omittedBytes: 0, omittedAt: null };

/** Decodes both ends of `length` bytes, cut where a character begins. */
function joinEnds(head: Buffer, tail: Buffer, length: number): LogText {
  if (head.length + tail.length >= length) {
    return { text: Buffer.concat([head, tail]).toString("utf8"), omittedBytes: 0, omittedAt: null };
  }
  const first = head.subarray(0, head.length - unfinishedBytes(head));
  const last = tail.subarray(continuationBytes(tail));
  const text = first.toString("utf8");
  return {
    text: text + last.toString("utf8"),
    omittedBytes: length - first.length - last.length,
    omittedAt: text.length,
  };
}

/** Reused, since nearly every output fits and a foreground run is not to pay for memory it does not need. */
const sharedBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * A whole stream as text, or its head and tail where it is longer than `maxBytes`. For a command that has ended.
 * `size` is how much the caller knows to be written: at 0 the disk is not touched.
 */
export function readStreamText(
  folder: string,
  stream: StreamName,
  maxBytes: number = DEFAULT_TEXT_BYTES,
  size?: number,
): LogText {
  if (size === 0) return EMPTY;
  const file = logFile(`${folder}/${stream}`);
  try {
    const filled = readAt(file, sharedBuffer, 0);
    const whole = filled < sharedBuffer.length;
    // A hole reads as NULs: without any, there is no need to ask the timeline.
    if (whole && filled <= maxBytes && !sharedBuffer.subarray(0, filled).includes(0)) {
      return filled === 0
        ? EMPTY
        : { text: sharedBuffer.toString("utf8", 0, filled), omittedBytes: 0, omittedAt: null };
    }
    const length = whole ? filled : sizeOf(file);
    const omitted = omittedRange(length, holeIn(folder, stream), maxBytes);
    const head = Buffer.allocUnsafe(omitted.start);
    const tail = Buffer.allocUnsafe(length - omitted.end);
    return joinEnds(head.subarray(0, readAt(file, head, 0)), tail.subarray(0, readAt(file, tail, omitted.end)), length);
  } finally {
    closeFile(file);
  }
}

function holeIn(folder: string, stream: StreamName): Range {
  const timeline = openTimeline(`${folder}/timeline`);
  closeTimeline(timeline);
  return timeline.header.holes[stream === "stderr" ? 1 : 0];
}

/** What to leave out: the hole, and around it (or in the middle) as much as it takes. */
function omittedRange(length: number, hole: Range, maxBytes: number): Range {
  const half = Math.floor(maxBytes / 2);
  const end = Math.min(hole.end, length);
  const start = Math.min(hole.start, end);
  if (start < end) {
    const tail = Math.min(length - end, maxBytes - Math.min(half, start));
    return { start: Math.min(start, maxBytes - tail), end: length - tail };
  }
  return length <= maxBytes ? { start: length, end: length } : { start: half, end: length - (maxBytes - half) };
}

/**
 * All that a command wrote, in the order it did, as text, or head and tail of it. For a command that has ended.
 * With `sizes`, a run that wrote to one stream only costs no more than reading that one.
 */
export function readMergedText(
  folder: string,
  capture: Capture,
  maxBytes: number = DEFAULT_TEXT_BYTES,
  sizes?: Partial<Record<StreamName, number>>,
): LogText {
  const names = streamNames(capture).filter((name) => sizes?.[name] !== 0);
  if (names[0] === undefined) return EMPTY;
  if (names.length === 1) return readStreamText(folder, names[0], maxBytes, sizes?.[names[0]]);
  const log = openSessionLog(folder, capture);
  try {
    const view = viewOf(log, "merged", false);
    const length = totalBytes(view);
    const headBytes = length <= maxBytes ? maxBytes : Math.floor(maxBytes / 2);
    const head = takeBytes(untilDropped(readPieces(view, 0, length)), headBytes);
    const tailBytes = maxBytes - head.bytes.length;
    const tail = takeBytes(readPieces(view, Math.max(head.next, length - tailBytes), length), tailBytes);
    return joinEnds(head.bytes, tail.bytes, length);
  } finally {
    closeSessionLog(log);
  }
}

function* untilDropped(pieces: Iterable<Piece>): Generator<Piece> {
  for (const piece of pieces) {
    if (piece.dropped > 0) return;
    yield piece;
  }
}

function takeBytes(pieces: Iterable<Piece>, limit: number): { bytes: Buffer; next: number } {
  const held: PartialCharacters = new Map();
  const taken: Uint8Array[] = [];
  let next = 0;
  for (const piece of takePieces(pieces, limit, "exact")) {
    next = piece.position + piece.bytes.length;
    for (const whole of completeCharacters(held, piece)) taken.push(whole.bytes);
  }
  for (const piece of flushPartial(held)) taken.push(piece.bytes);
  return { bytes: Buffer.concat(taken), next };
}
