import type { LogChunk, StreamName } from "../../core/session.ts";
import { holeOf, PIECE_BYTES, readStream } from "./session-log.ts";
import { type LogView, spansBetween } from "./view.ts";

/** Returns how many bytes at the end (0 to 3) start a UTF-8 character that is incomplete. */
export function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const lead = bytes[bytes.length - back] as number;
    if ((lead & 0xc0) === 0x80) continue;
    const needed =
      lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xc2 && lead < 0xe0 ? 2 : 1;
    if (needed <= back) return 0;
    return back === 1 || canFollow(lead, bytes[bytes.length - back + 1] as number) ? back : 0;
  }
  return 0;
}

/**
 * Reports whether `second` can follow `lead`. Overlong forms, surrogates and code points past U+10FFFF are rejected,
 * because they can never be completed.
 */
function canFollow(lead: number, second: number): boolean {
  if (lead === 0xe0) return second >= 0xa0;
  if (lead === 0xed) return second < 0xa0;
  if (lead === 0xf0) return second >= 0x90;
  if (lead === 0xf4) return second < 0x90;
  return true;
}

/** Returns how many bytes at the start (0 to 3) continue a character that began before them. */
export function continuationBytes(bytes: Uint8Array): number {
  let count = 0;
  while (count < 3 && count < bytes.length && ((bytes[count] as number) & 0xc0) === 0x80) count++;
  return count;
}

/** Incomplete characters that are held back, by stream. The rest may arrive after bytes of the other stream. */
export type PartialCharacters = Map<StreamName, Piece>;

/** Adds a piece to the held bytes, and returns the pieces that end at a character boundary. */
export function completeCharacters(held: PartialCharacters, piece: Piece): Piece[] {
  const out: Piece[] = [];
  let whole = piece;
  const begun = held.get(piece.stream);
  if (begun !== undefined) {
    held.delete(piece.stream);
    if (piece.dropped === 0 && begun.offset + begun.bytes.length === piece.offset) {
      whole = { ...begun, bytes: Buffer.concat([begun.bytes, piece.bytes]) };
    } else {
      out.push(begun);
    }
  }
  const unfinished = unfinishedBytes(whole.bytes);
  if (unfinished === 0) {
    out.push(whole);
    return out;
  }
  const cut = whole.bytes.length - unfinished;
  const before = piece.bytes.length - unfinished;
  const start = {
    ...(cut === 0 ? whole : { ...piece, dropped: 0 }),
    offset: whole.offset + cut,
    bytes: whole.bytes.subarray(cut),
    // A character that began in an earlier piece may have bytes of the other stream in between.
    position: before < 0 ? whole.position : piece.position + before,
  };
  held.set(piece.stream, start);
  if (cut > 0) out.push({ ...whole, bytes: whole.bytes.subarray(0, cut) });
  return out;
}

/** Returns the incomplete characters as they are, when no more bytes will arrive. */
export function flushPartial(held: PartialCharacters): Piece[] {
  const pieces = [...held.values()];
  held.clear();
  return pieces;
}

/** A piece of a log with its position in the view. Its bytes may end inside a character. */
export interface Piece extends LogChunk {
  position: number;
}

const NO_BYTES = Buffer.alloc(0);

/** The maximum number of bytes per read, which leaves space for an incomplete character of the previous piece. */
const READ_BYTES = PIECE_BYTES - 3;

/**
 * Reads [from, to) of a view in pieces. Holes are skipped and counted; a final empty piece reports a hole at the end.
 */
export function* readPieces(view: LogView, from: number, to: number): Generator<Piece> {
  const { log } = view;
  let dropped = 0;
  let last = { stream: log.names[view.only ?? 0] ?? "output", offset: 0 };
  for (const span of spansBetween(view, from, to)) {
    const stream = log.names[span.stream] ?? "output";
    const end = span.offset + span.length;
    last = { stream, offset: end };
    dropped += span.lost;
    let at = span.offset;
    while (at < end) {
      const bytes = inHole(view, span.stream, at)
        ? NO_BYTES
        : readStream(log, span.stream, at, Math.min(end - at, READ_BYTES));
      if (bytes.length === 0) {
        // No bytes outside a hole mean that the file has been truncated.
        const next = inHole(view, span.stream, at) ? Math.min(end, holeOf(log, span.stream).end) : end;
        dropped += next - at;
        at = next;
        continue;
      }
      yield { stream, offset: at, bytes, dropped, timeMs: span.timeMs, position: span.position + (at - span.offset) };
      dropped = 0;
      at += bytes.length;
    }
  }
  if (dropped > 0) yield { ...last, bytes: NO_BYTES, dropped, timeMs: null, position: to };
}

function inHole(view: LogView, stream: number, offset: number): boolean {
  const hole = holeOf(view.log, stream);
  return hole.start <= offset && offset < hole.end;
}

/** Yields the first `limit` bytes of `pieces`. With "cut", the rest of a character cut at the start is skipped. */
export function* takePieces(pieces: Iterable<Piece>, limit: number, start: "exact" | "cut"): Generator<Piece> {
  if (limit <= 0) return;
  let room = limit;
  let skip = start === "cut";
  for (const piece of pieces) {
    const from = skip ? continuationBytes(piece.bytes) : 0;
    skip = false;
    const bytes = piece.bytes.subarray(from, from + room);
    yield { ...piece, bytes, offset: piece.offset + from, position: piece.position + from };
    room -= bytes.length;
    if (room <= 0) return;
  }
}

export function chunkOf({ stream, offset, bytes, dropped, timeMs }: Piece): LogChunk {
  return { stream, offset, bytes, dropped, timeMs };
}
