import type { LogChunk } from "../../core/session.ts";
import { leftoverBytes } from "./characters.ts";
import { holeOf, PIECE_BYTES, readStream } from "./session-log.ts";
import { type LogView, spansBetween } from "./view.ts";

/** A piece of a log that knows where in its view it lies. Its bytes may end inside a character. */
export interface Piece extends LogChunk {
  position: number;
}

const NO_BYTES = Buffer.alloc(0);

/** Room is left for a character begun in the piece before (characters.ts). */
const READ_BYTES = PIECE_BYTES - 3;

/** Reads [from, to) of a view piece by piece. Holes are skipped and counted; a last empty piece tells of one at the end. */
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
        // Not in a hole either: the file is shorter than it was.
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

/** The first `limit` bytes of pieces. Those of a character begun before them are skipped when they were cut off blindly. */
export function* takePieces(pieces: Iterable<Piece>, limit: number, start: "exact" | "cut"): Generator<Piece> {
  if (limit <= 0) return;
  let room = limit;
  let skip = start === "cut";
  for (const piece of pieces) {
    const from = skip ? leftoverBytes(piece.bytes) : 0;
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
