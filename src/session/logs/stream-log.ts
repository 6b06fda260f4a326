import type { Capture, LogChunk, LogQuery } from "../../core/session.ts";
import { type HeldCharacters, releaseHeld, wholeCharacters } from "./characters.ts";
import { keepPace } from "./pace.ts";
import { chunkOf, readPieces, takePieces } from "./pieces.ts";
import { select } from "./select.ts";
import { closeSessionLog, openSessionLog } from "./session-log.ts";
import { endOf, viewOf } from "./view.ts";

/**
 * What a query selects of a log as it is now, chunk by chunk, so that it may be of any size. Without a `limit` it is
 * given whole. No chunk ends inside a character, save where the selection does.
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
    const held: HeldCharacters = new Map();
    const pace = { bytes: 0 };
    for (const piece of takePieces(readPieces(view, start, end), limit, begins)) {
      for (const whole of wholeCharacters(held, piece)) yield chunkOf(whole);
      await keepPace(pace, piece.bytes.length);
    }
    for (const piece of releaseHeld(held)) yield chunkOf(piece);
  } finally {
    closeSessionLog(log);
  }
}
