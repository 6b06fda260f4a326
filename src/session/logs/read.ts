import type { LogSlice } from "../../core/gateway.ts";
import type { Capture, LogChunk, LogQuery } from "../../core/session.ts";
import { yieldAfter } from "./log-file.ts";
import {
  chunkOf,
  completeCharacters,
  flushPartial,
  type PartialCharacters,
  type Piece,
  readPieces,
  takePieces,
} from "./pieces.ts";
import { type Selection, select } from "./select.ts";
import { closeSessionLog, openSessionLog } from "./session-log.ts";
import { refreshHeader, type TimelineHeader } from "./timeline.ts";
import { endOf, type LogView, totalBytes, viewOf } from "./view.ts";

/** The maximum number of bytes in a slice when the query has no limit. */
export const DEFAULT_LIMIT = 1024 * 1024;

/** The largest limit in bytes, because a slice is held in memory. `followLog` and `streamLog` have no such limit. */
const MAX_LIMIT = 16 * 1024 * 1024;

const LONGEST_CHARACTER = 4;

/** How many times a tail is read if output is dropped faster than it is read. */
const ATTEMPTS = 8;

/**
 * Reads a slice of a log. `limit` counts returned bytes, not dropped ones. For interleaved streams of an "apart"
 * capture, offsets count the bytes of both. A merged capture has one stream, which is returned for any `stream`.
 */
export async function readLog(
  folder: string,
  capture: Capture,
  query: LogQuery,
  state: { live: boolean },
): Promise<LogSlice> {
  const log = openSessionLog(folder, capture);
  try {
    const view = viewOf(log, query.stream, state.live);
    const { selection, slice } = await readConsistently(view, query, limitOf(query));
    const chunks = slice.pieces.map(chunkOf);
    return {
      chunks,
      text: Buffer.concat(chunks.map((chunk) => chunk.bytes)).toString("utf8"),
      nextOffset: slice.next,
      totalBytes: totalBytes(view),
      droppedBytes: chunks.reduce((sum, chunk) => sum + chunk.dropped, 0),
      diskCap: view.log.timeline.header.cap || null,
      ...(selection.totalLines === undefined ? {} : { totalLines: selection.totalLines }),
    };
  } finally {
    closeSessionLog(log);
  }
}

/**
 * Reads a selection, and reads a tail again if the hole grew during the read and reached the selected lines. When the
 * writer is faster than every attempt, the gap is counted in `droppedBytes`.
 */
async function readConsistently(view: LogView, query: LogQuery, limit: number) {
  for (let attempt = 1; ; attempt++) {
    const before = holeEnds(refreshHeader(view.log.timeline));
    const selection = await select(view, query, endOf(view), limit);
    const slice = await readAtLeastOneCharacter(view, selection, limit);
    const crossed = query.tail !== undefined && slice.pieces.some((piece) => piece.dropped > 0);
    if (!crossed || attempt === ATTEMPTS || holeEnds(refreshHeader(view.log.timeline)) === before)
      return { selection, slice };
  }
}

function holeEnds({ holes }: TimelineHeader): string {
  return holes.map((hole) => hole.end).join();
}

/** Extends a limit shorter than the first character to that character; otherwise a reader would never advance. */
async function readAtLeastOneCharacter(view: LogView, selection: Selection, limit: number): Promise<Slice> {
  let slice = await readSlice(view, selection, limit);
  for (let longer = limit + 1; limit > 0 && slice.stuck && longer <= LONGEST_CHARACTER; longer++) {
    slice = await readSlice(view, selection, longer);
  }
  return slice;
}

function limitOf(query: LogQuery): number {
  const limit = query.limit ?? DEFAULT_LIMIT;
  return Number.isNaN(limit) ? DEFAULT_LIMIT : Math.floor(Math.min(MAX_LIMIT, Math.max(0, limit)));
}

interface Slice {
  pieces: Piece[];
  next: number;
  /** True when the limit was reached inside the first character. */
  stuck: boolean;
}

async function readSlice(view: LogView, selection: Selection, limit: number): Promise<Slice> {
  const pace = { bytes: 0 };
  const held: PartialCharacters = new Map();
  const pieces: Piece[] = [];
  let given = 0;
  let next = selection.start;
  const selected = readPieces(view, selection.start, selection.end);
  for (const piece of takePieces(selected, limit, selection.begins)) {
    given += piece.bytes.length;
    next = piece.position + piece.bytes.length;
    pieces.push(...completeCharacters(held, piece));
    await yieldAfter(pace, piece.bytes.length);
  }
  const complete = !view.live && (given < limit || next >= selection.end);
  for (const piece of flushPartial(held)) {
    // An incomplete character is left for the next read, unless bytes after it have already been returned.
    if (!complete && piece.position + piece.bytes.length === next) next = piece.position;
    else pieces.push(piece);
  }
  return { pieces, next, stuck: pieces.length === 0 && given === limit };
}

/**
 * Yields the part of a log that a query selects, in chunks, so that a log of any size can be read. There is no default
 * `limit`. No chunk ends inside a character unless the selection does.
 */
export async function* streamLog(
  folder: string,
  capture: Capture,
  query: LogQuery,
  state: { live: boolean },
): AsyncGenerator<LogChunk, void, undefined> {
  const log = openSessionLog(folder, capture);
  try {
    const view = viewOf(log, query.stream, state.live);
    const limit = query.limit ?? Number.POSITIVE_INFINITY;
    const { start, end, begins } = await select(view, query, endOf(view), limit);
    const held: PartialCharacters = new Map();
    const pace = { bytes: 0 };
    for (const piece of takePieces(readPieces(view, start, end), limit, begins)) {
      for (const whole of completeCharacters(held, piece)) yield chunkOf(whole);
      await yieldAfter(pace, piece.bytes.length);
    }
    for (const piece of flushPartial(held)) yield chunkOf(piece);
  } finally {
    closeSessionLog(log);
  }
}
