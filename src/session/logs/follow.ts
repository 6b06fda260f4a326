import type { Capture, LogChunk, LogQuery, StreamName } from "../../core/session.ts";
import type { Execution, FreshOutput } from "../../executor/executor.ts";
import { keepPace } from "./log-file.ts";
import type { HeldCharacters } from "./pieces.ts";
import { chunkOf, type Piece, readPieces, releaseHeld, wholeCharacters } from "./pieces.ts";
import { select } from "./select.ts";
import { closeSessionLog, openSessionLog } from "./session-log.ts";
import { lastBlockBelow } from "./timeline.ts";
import type { LogView } from "./view.ts";
import { endOf, spansFrom, viewOf } from "./view.ts";

/** How far each stream was read by somebody who comes back. */
export type LeftOff = Partial<Record<StreamName, number>>;

/**
 * Where in a view the first byte lies that they have not had. Of two streams one may have been ahead: a character that
 * was begun is not given out before the rest of it came, while the other stream goes on.
 */
export function positionAfter(view: LogView, left: LeftOff): number {
  const { log, only } = view;
  const offsets = log.names.map((name) => Math.max(0, left[name] ?? 0));
  if (only !== null) return offsets[only] ?? 0;
  const [first = 0, second = 0] = offsets;
  const block = Math.min(
    lastBlockBelow(log.timeline, first, (header) => header.offsets[0]),
    lastBlockBelow(log.timeline, second, (header) => header.offsets[1]),
  );
  for (const span of spansFrom(log, block, null)) {
    const missing = offsets[span.stream] ?? 0;
    if (span.offset + span.length > missing) return span.position + Math.max(0, missing - span.offset);
  }
  return first + second;
}

/** What is new of a piece; null: nothing. */
export function unread(piece: Piece, left: LeftOff): Piece | null {
  const known = Math.max(0, (left[piece.stream] ?? 0) - piece.offset);
  if (known === 0) return piece;
  if (known >= piece.bytes.length) return null;
  const { offset, position, bytes } = piece;
  return { ...piece, dropped: 0, offset: offset + known, position: position + known, bytes: bytes.subarray(known) };
}

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

/** More than this is read from the log: a follower that is slow must not make a gateway keep what it has not taken. */
const MOST_FRESH = 16 * 1024;

/** Turns an execution's growth and end into what a log follower waits for. */
export function wakeOf(execution: Execution | null): LogWake & { stop(): void } {
  let grew = false;
  let ended = execution === null;
  let wake: (() => void) | null = null;
  const came = new Came();
  const ring = () => {
    wake?.();
    wake = null;
  };
  const stop = execution?.onGrew((fresh) => {
    grew = true;
    came.add(fresh);
    ring();
  });
  void execution?.ended.then(() => {
    ended = true;
    ring();
  });
  return {
    async next(signal) {
      if (!grew && !ended) {
        await new Promise<void>((resolve) => {
          const done = () => {
            signal?.removeEventListener("abort", done); // or a long log would leave one for every piece of it
            resolve();
          };
          wake = done;
          signal?.addEventListener("abort", done, { once: true });
        });
      }
      signal?.throwIfAborted();
      if (ended) return "ended";
      grew = false;
      return "grew";
    },
    fresh: () => came.take(),
    stop: () => stop?.(),
  };
}

/** What came since it was last taken, in one piece; nothing once a part of it is not at hand. */
class Came {
  #pieces: FreshOutput[] = [];
  #bytes = 0;
  #broken = false;

  add(fresh: FreshOutput | undefined): void {
    const last = this.#pieces.at(-1);
    const follows = fresh && (!last || last.offset + last.bytes.length === fresh.offset);
    if (!follows || this.#bytes + fresh.bytes.length > MOST_FRESH) this.#broken = true;
    if (this.#broken) this.#pieces = [];
    else if (fresh) this.#pieces.push(fresh);
    this.#bytes += fresh?.bytes.length ?? 0;
  }

  take(): FreshOutput | null {
    const [first, ...more] = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    this.#broken = false;
    if (!first || more.length === 0) return first ?? null;
    return { ...first, bytes: Buffer.concat([first.bytes, ...more.map(({ bytes }) => bytes)]) };
  }
}
