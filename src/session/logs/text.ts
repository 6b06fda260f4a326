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

/** The maximum number of bytes of a stream in the result of a foreground run. */
const DEFAULT_TEXT_BYTES = 1024 * 1024;

/** Head and tail of a log, joined. */
interface LogText {
  text: string;
  /** Bytes between head and tail that are not in the text. */
  omittedBytes: number;
  /** The index in `text` at which bytes were omitted; null when none were. */
  omittedAt: number | null;
}

const EMPTY: LogText = { text: "", omittedBytes: 0, omittedAt: null };

/** Decodes the head and tail of `length` bytes, both cut at character boundaries. */
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

/** A shared buffer that is large enough for nearly every output, which saves an allocation per run. */
const sharedBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Returns a stream as text, or its head and tail if it is longer than `maxBytes`. The command must have ended. `size`
 * is the stream's size if the caller knows it; when it is 0, the disk is not accessed.
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
    // A hole reads as NULs. Without NULs there is no hole, and the timeline is not needed.
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

/** Returns the range to omit: the hole, extended as necessary, or the middle if there is no hole. */
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
 * Returns the output of both streams in order as text, or its head and tail. The command must have ended. With
 * `sizes`, only one stream is read if the command wrote only to that one.
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
