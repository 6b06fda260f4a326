import type { Capture, LogChunk, LogQuery } from "../../core/session.ts";
import type { FreshOutput } from "../../executor/executor.ts";
import { type HeldCharacters, releaseHeld, wholeCharacters } from "./characters.ts";
import { keepPace } from "./pace.ts";
import { chunkOf, type Piece, readPieces } from "./pieces.ts";
import { type LeftOff, positionAfter, unread } from "./resume.ts";
import { select } from "./select.ts";
import { closeSessionLog, openSessionLog } from "./session-log.ts";
import { endOf, viewOf } from "./view.ts";

/** Hints that a log may have grown, or that nothing will be written to it any more. A hint too many does no harm. */
export interface LogWake {
  next(signal?: AbortSignal): Promise<"grew" | "ended">;
  /** All that came since the last time, where it is at hand: whoever has read up to there need not look into files. */
  fresh?(): FreshOutput | null;
}

/**
 * Everything from where the query starts (`after`, `offset`, `tail`, `fromLine`, `sinceMs`), then what is written from then on,
 * until `wake` says "ended" and the rest is given. No chunk ends inside a character. It holds one chunk at a
 * time, so it also serves to read a whole log of any size. Ends quietly when `signal` is aborted.
 *
 * @example
 * const ended = { next: async () => "ended" as const };
 * for await (const chunk of followLog(folder, "apart", {}, ended)) process.stdout.write(chunk.bytes);
 */
export async function* followLog(
  folder: string,
  capture: Capture,
  query: Omit<LogQuery, "limit" | "toLine"> & { after?: LeftOff },
  wake: LogWake,
  signal?: AbortSignal,
): AsyncGenerator<LogChunk, void, undefined> {
  const log = openSessionLog(folder, capture);
  try {
    const held: HeldCharacters = new Map();
    const pace = { bytes: 0 };
    const live = viewOf(log, query.stream, true);
    const settled = viewOf(log, query.stream, false);
    const { offset, tail, fromLine, sinceMs, after } = query;
    let position = after
      ? positionAfter(live, after)
      : (await select(live, { offset, tail, fromLine, sinceMs }, endOf(live), Number.POSITIVE_INFINITY)).start;
    let fresh: Piece | null = null;
    for (let ended = false; ; ) {
      const view = ended ? settled : live;
      for (const piece of fresh ? [fresh] : readPieces(view, position, endOf(view))) {
        position = piece.position + piece.bytes.length;
        const news = after ? unread(piece, after) : piece;
        for (const whole of news ? wholeCharacters(held, news) : []) {
          if (signal?.aborted) return;
          yield chunkOf(whole);
        }
        await keepPace(pace, piece.bytes.length);
      }
      if (ended) break;
      const hint = await (signal ? nextHint(wake, signal) : wake.next());
      if (hint === null) return;
      ended = hint === "ended";
      fresh = ended || capture !== "merged" ? null : atHand(wake, position);
    }
    for (const piece of releaseHeld(held)) yield chunkOf(piece);
  } finally {
    closeSessionLog(log);
  }
}

/** What the wake brought, if it goes on where we are: then no file need be looked into. */
function atHand(wake: LogWake, position: number): Piece | null {
  const fresh = wake.fresh?.() ?? null;
  return fresh?.offset === position ? { ...fresh, stream: "output", dropped: 0, position } : null;
}

/** Null once aborted, whether or not the wake minds the signal. */
async function nextHint(wake: LogWake, signal: AbortSignal): Promise<"grew" | "ended" | null> {
  if (signal.aborted) return null;
  const aborted = Promise.withResolvers<null>();
  const onAbort = () => aborted.resolve(null);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([wake.next(signal), aborted.promise]);
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
