import type { LogQuery } from "../../core/session.ts";
import { PIECE_BYTES, type SessionLog, streamSize } from "./session-log.ts";
import { type BlockHeader, blockAfter, blockCount, lastBlockBelow, readBlock, recordsOf } from "./timeline.ts";

/** Consecutive bytes of one stream, as they arrived at the keeper. */
export interface Span {
  stream: number;
  offset: number;
  length: number;
  /** The position in the view: the offset for one stream, or the bytes of both streams before it if interleaved. */
  position: number;
  /** Null for bytes that the timeline does not cover. */
  timeMs: number | null;
  /**
   * The number of bytes of this stream right before the span that could not be written. If bytes were lost at the end,
   * the last span has a length of 0.
   */
  lost: number;
}

/** The progress in one stream. */
interface Cursor {
  stream: number;
  offset: number;
  size: number;
  lost: number;
}

/**
 * Yields the spans of one stream, or of all if `only` is null, in order of arrival, starting with block `firstBlock`.
 *
 * Offsets only increase, and ranges that the timeline does not cover (a hole, garbage, a truncated end) are filled in,
 * stream 0 before stream 1. So each byte of the streams is yielded exactly once, even with a corrupt timeline.
 */
export function* spansFrom(log: SessionLog, firstBlock: number, only: number | null): Generator<Span> {
  const { timeline } = log;
  const cursors = log.names
    .map((_, stream) => ({ stream, offset: 0, size: streamSize(log, stream), lost: 0 }))
    .filter(({ stream }) => only === null || stream === only);
  let positioned = firstBlock === 0;
  let index = firstBlock;
  while (index < blockCount(timeline)) {
    const block = readBlock(timeline, index);
    let silent = true;
    if (block !== null) {
      for (const cursor of cursors) {
        const offset = block.offsets[cursor.stream === 0 ? 0 : 1];
        if (!positioned) cursor.offset = reachable(log, cursor, offset);
      }
      positioned = true;
      for (const cursor of cursors) {
        const gap = advance(log, cursors, cursor, block.offsets[cursor.stream === 0 ? 0 : 1], null);
        if (gap !== null) yield gap;
      }
      for (const record of recordsOf(block, timeline.header.startMs)) {
        const cursor = cursors.find(({ stream }) => stream === record.stream);
        if (cursor === undefined) continue;
        silent = false;
        if (record.lost) {
          cursor.lost += record.length;
          continue;
        }
        const span = advance(log, cursors, cursor, cursor.offset + record.length, record.timeMs);
        if (span !== null) yield span;
      }
    }
    index = blockAfter(timeline, index);
    if (silent && only !== null) {
      const next = nextBlockWithOutput(log, only, cursors[0]);
      if (next === null) break;
      index = Math.max(index, next);
    }
  }

  for (const cursor of cursors) {
    const rest = advance(log, cursors, cursor, Number.MAX_SAFE_INTEGER, null);
    if (rest !== null) yield rest;
  }
  for (const { stream, offset, lost } of cursors) {
    if (lost > 0) yield { stream, offset, length: 0, position: positionOf(cursors), timeMs: null, lost };
  }
}

function positionOf(cursors: readonly Cursor[]): number {
  let position = 0;
  for (const cursor of cursors) position += cursor.offset;
  return position;
}

/**
 * Clamps an offset to the stream's size. Streams are written before the timeline, so the known size may be outdated.
 */
function reachable(log: SessionLog, cursor: Cursor, offset: number): number {
  if (offset > cursor.size) cursor.size = streamSize(log, cursor.stream);
  return Math.min(offset, cursor.size);
}

function advance(
  log: SessionLog,
  cursors: readonly Cursor[],
  cursor: Cursor,
  to: number,
  timeMs: number | null,
): Span | null {
  const { stream, offset, lost } = cursor;
  const end = reachable(log, cursor, to);
  if (end <= offset) return null;
  const span = { stream, offset, length: end - offset, position: positionOf(cursors), timeMs, lost };
  cursor.offset = end;
  cursor.lost = 0;
  return span;
}

/**
 * Returns the block in which a stream continues, so that gigabytes of the other stream can be skipped; null when it
 * does not continue, 0 when that cannot be determined.
 */
function nextBlockWithOutput(log: SessionLog, stream: number, cursor: Cursor | undefined): number | null {
  const slot = stream === 0 ? 0 : 1;
  // Lost bytes are not reflected in the offsets that are searched.
  if (cursor === undefined || log.timeline.header.lost[slot] > 0) return 0;
  if (reachable(log, cursor, cursor.offset + 1) <= cursor.offset) return null;
  return lastBlockBelow(log.timeline, cursor.offset + 1, (header) => header.offsets[slot]);
}

/** Joins adjacent spans, so that byte-by-byte output does not yield a million pieces. Keeps the time of the first. */
function* joinSpans(spans: Iterable<Span>): Generator<Span> {
  let open: Span | null = null;
  for (const span of spans) {
    if (open !== null && follows(open, span) && open.length + span.length <= PIECE_BYTES) {
      open.length += span.length;
      continue;
    }
    if (open !== null) yield open;
    open = span;
  }
  if (open !== null) yield open;
}

function follows(before: Span, after: Span): boolean {
  return before.stream === after.stream && before.offset + before.length === after.offset && after.lost === 0;
}

/**
 * The bytes that a query reads, as one sequence. Positions start at 0 and include dropped bytes. For one stream a
 * position is an offset; for interleaved streams it is the number of bytes of both before it.
 */
export interface LogView {
  readonly log: SessionLog;
  /** The stream that is read; null for both streams, interleaved. */
  readonly only: 0 | 1 | null;
  readonly live: boolean;
}

/** Creates a view. A merged capture has a single stream, `output`, which is used for any `stream`. */
export function viewOf(log: SessionLog, stream: LogQuery["stream"], live: boolean): LogView {
  if (log.names.length === 1 || stream === "stdout") return { log, only: 0, live };
  return { log, only: stream === "stderr" ? 1 : null, live };
}

function positionKey(view: LogView): (header: BlockHeader) => number {
  const { only } = view;
  return only === null ? ({ offsets }) => offsets[0] + offsets[1] : ({ offsets }) => offsets[only];
}

/** Returns the number of bytes written to the streams of the view. */
export function totalBytes(view: LogView): number {
  if (view.only !== null) return streamSize(view.log, view.only);
  return streamSize(view.log, 0) + streamSize(view.log, 1);
}

/** Returns the readable end of the view. For two live streams, the order is known only as far as the timeline goes. */
export function endOf(view: LogView): number {
  return view.live && view.only === null ? coveredBytes(view.log) : totalBytes(view);
}

function coveredBytes(log: SessionLog): number {
  const last = blockCount(log.timeline) - 1;
  // The last block may not have records yet; the one before it is used in that case.
  for (let index = last; index >= 0 && index >= last - 1; index--) {
    const block = readBlock(log.timeline, index);
    if (block === null) continue;
    const covered = [...block.offsets];
    for (const { stream, length, lost } of recordsOf(block, 0)) {
      if (!lost) covered[stream] = (covered[stream] ?? 0) + length;
    }
    return covered.reduce((sum, bytes, stream) => sum + Math.min(bytes, streamSize(log, stream)), 0);
  }
  return 0;
}

/** Yields the spans of [from, to), cut to that range. */
export function* spansBetween(view: LogView, from: number, to: number): Generator<Span> {
  const firstBlock = lastBlockBelow(view.log.timeline, from, positionKey(view));
  yield* joinSpans(cutSpans(spansFrom(view.log, firstBlock, view.only), view.live, from, to));
}

function* cutSpans(spans: Iterable<Span>, live: boolean, from: number, to: number): Generator<Span> {
  for (const span of spans) {
    if (span.length === 0) {
      // Bytes lost at the end of a live log are reported with the next span.
      if (!live && from <= span.position && span.position <= to) yield span;
      continue;
    }
    if (span.position >= to) return;
    const skip = Math.max(0, from - span.position);
    const length = Math.min(span.length, to - span.position) - skip;
    if (length <= 0) continue;
    const lost = skip > 0 ? 0 : span.lost;
    yield { ...span, offset: span.offset + skip, position: span.position + skip, length, lost };
  }
}

/**
 * Returns the position from which all output at or after a time is included. Output of unknown time is included too.
 */
export function positionSince(view: LogView, sinceMs: number): number {
  const { log, only } = view;
  const sinceStart = sinceMs - log.timeline.header.startMs;
  const firstBlock = lastBlockBelow(log.timeline, sinceStart, (header) => header.baseMs);
  let position: number | null = firstBlock === 0 ? 0 : null;
  for (const span of spansFrom(log, firstBlock, only)) {
    position ??= span.position;
    if (span.timeMs === null) continue;
    if (span.timeMs >= sinceMs) break;
    position = span.position + span.length;
  }
  return position ?? totalBytes(view);
}
