import type { Capture, StreamName } from "../../core/session.ts";
import { type HeldCharacters, releaseHeld, wholeCharacters } from "./characters.ts";
import { type Piece, readPieces, takePieces } from "./pieces.ts";
import { closeSessionLog, openSessionLog, streamNames } from "./session-log.ts";
import { DEFAULT_TEXT_BYTES, EMPTY, joinEnds, type LogText } from "./text.ts";
import { readTextSync } from "./text-sync.ts";
import { totalBytes, viewOf } from "./view.ts";

/**
 * All that a command wrote, in the order it did, as text, or head and tail of it. For a command that has ended.
 * With `sizes`, a run that wrote to one stream only costs no more than reading that one.
 */
export function readMergedSync(
  folder: string,
  capture: Capture,
  maxBytes: number = DEFAULT_TEXT_BYTES,
  sizes?: Partial<Record<StreamName, number>>,
): LogText {
  const names = streamNames(capture).filter((name) => sizes?.[name] !== 0);
  if (names[0] === undefined) return EMPTY;
  if (names.length === 1) return readTextSync(folder, names[0], maxBytes, sizes?.[names[0]]);
  const log = openSessionLog(folder, capture);
  try {
    const view = viewOf(log, "merged", false);
    const length = totalBytes(view);
    const headBytes = length <= maxBytes ? maxBytes : Math.floor(maxBytes / 2);
    const head = takeBytes(beforeLoss(readPieces(view, 0, length)), headBytes);
    const tailBytes = maxBytes - head.bytes.length;
    const tail = takeBytes(readPieces(view, Math.max(head.next, length - tailBytes), length), tailBytes);
    return joinEnds(head.bytes, tail.bytes, length);
  } finally {
    closeSessionLog(log);
  }
}

function* beforeLoss(pieces: Iterable<Piece>): Generator<Piece> {
  for (const piece of pieces) {
    if (piece.dropped > 0) return;
    yield piece;
  }
}

function takeBytes(pieces: Iterable<Piece>, limit: number): { bytes: Buffer; next: number } {
  const held: HeldCharacters = new Map();
  const taken: Uint8Array[] = [];
  let next = 0;
  for (const piece of takePieces(pieces, limit, "exact")) {
    next = piece.position + piece.bytes.length;
    for (const whole of wholeCharacters(held, piece)) taken.push(whole.bytes);
  }
  for (const piece of releaseHeld(held)) taken.push(piece.bytes);
  return { bytes: Buffer.concat(taken), next };
}
