import type { LogQuery } from "../../core/session.ts";
import { type SessionLog, streamSize } from "./session-log.ts";
import { joinSpans, type Span, spansFrom } from "./spans.ts";
import { blockCount, lastBlockBelow, readBlock } from "./timeline.ts";
import { type BlockHeader, recordsOf } from "./timeline-format.ts";

/**
 * What a query looks at, as one row of bytes: positions count from 0, dropped bytes included. For one stream a
 * position is an offset; for two interleaved streams it is the number of bytes of both before it.
 */
export interface LogView {
  readonly log: SessionLog;
  /** The one stream looked at; null for all, interleaved. */
  readonly only: 0 | 1 | null;
  readonly live: boolean;
}

/** A merged capture has one stream only, `output`, and gives it whichever stream is asked for. */
export function viewOf(log: SessionLog, stream: LogQuery["stream"], live: boolean): LogView {
  if (log.names.length === 1 || stream === "stdout") return { log, only: 0, live };
  return { log, only: stream === "stderr" ? 1 : null, live };
}

function positionKey(view: LogView): (header: BlockHeader) => number {
  const { only } = view;
  return only === null ? ({ offsets }) => offsets[0] + offsets[1] : ({ offsets }) => offsets[only];
}

/** Bytes written to what is looked at. */
export function totalBytes(view: LogView): number {
  if (view.only !== null) return streamSize(view.log, view.only);
  return streamSize(view.log, 0) + streamSize(view.log, 1);
}

/** How far it can be read now. While two streams are being written, their order is known as far as the timeline goes. */
export function endOf(view: LogView): number {
  return view.live && view.only === null ? coveredBytes(view.log) : totalBytes(view);
}

function coveredBytes(log: SessionLog): number {
  const last = blockCount(log.timeline) - 1;
  // The last block may just have been begun: then the one before it tells.
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

/** The spans that make up [from, to), cut to fit. */
export function* spansBetween(view: LogView, from: number, to: number): Generator<Span> {
  const firstBlock = lastBlockBelow(view.log.timeline, from, positionKey(view));
  yield* joinSpans(cutSpans(spansFrom(view.log, firstBlock, view.only), view.live, from, to));
}

function* cutSpans(spans: Iterable<Span>, live: boolean, from: number, to: number): Generator<Span> {
  for (const span of spans) {
    if (span.length === 0) {
      // Loss at the very end is told with the next bytes, if there may be any.
      if (!live && span.position >= from) yield span;
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

/** Where to begin to see all that came at or after a time. What came at a time unknown is rather shown than not. */
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
