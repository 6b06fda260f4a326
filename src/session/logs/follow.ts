import type { Capture, LogChunk, LogQuery, StreamName } from "../../core/session.ts";
import type { Execution, OutputDelta } from "../../executor/execution.ts";
import { yieldAfter } from "./log-file.ts";
import { chunkOf, completeCharacters, flushPartial, type PartialCharacters, type Piece, readPieces } from "./pieces.ts";
import { select } from "./select.ts";
import { closeSessionLog, openSessionLog } from "./session-log.ts";
import { lastBlockBelow } from "./timeline.ts";
import { endOf, type LogView, spansFrom, viewOf } from "./view.ts";

/** The offsets up to which a returning reader has read each stream. */
type ReadOffsets = Partial<Record<StreamName, number>>;

/** Reports that a log may have grown, or that nothing more will be written to it. Spurious reports are harmless. */
interface OutputNotifier {
  next(signal?: AbortSignal): Promise<"grew" | "ended">;
  /** Returns the output since the last call if it is in memory, so that a reader that is up to date reads no files. */
  fresh?(): OutputDelta | null;
}

/**
 * Yields the log from where the query starts (`after`, `offset`, `tail`, `fromLine`, `sinceMs`), then new output until
 * `notifier` reports "ended". No chunk ends inside a character. Only one chunk is held in memory, so a log of any size
 * can be read. Returns without an error when `signal` is aborted.
 *
 * @example
 * const ended = { next: async () => "ended" as const };
 * for await (const chunk of followLog(folder, "apart", {}, ended)) process.stdout.write(chunk.bytes);
 */
export async function* followLog(
  folder: string,
  capture: Capture,
  query: Omit<LogQuery, "limit" | "toLine"> & { after?: ReadOffsets },
  notifier: OutputNotifier,
  signal?: AbortSignal,
): AsyncGenerator<LogChunk, void, undefined> {
  const log = openSessionLog(folder, capture);
  try {
    const held: PartialCharacters = new Map();
    const pace = { bytes: 0 };
    const live = viewOf(log, query.stream, true);
    const settled = viewOf(log, query.stream, false);
    const { offset, tail, fromLine, sinceMs, after } = query;
    let position = after
      ? resumePosition(live, after)
      : (await select(live, { offset, tail, fromLine, sinceMs }, endOf(live), Number.POSITIVE_INFINITY)).start;
    let fresh: Piece | null = null;
    for (let ended = false; ; ) {
      const view = ended ? settled : live;
      for (const piece of fresh ? [fresh] : readPieces(view, position, endOf(view))) {
        position = piece.position + piece.bytes.length;
        const news = after ? unreadPart(piece, after) : piece;
        for (const whole of news ? completeCharacters(held, news) : []) {
          if (signal?.aborted) return;
          yield chunkOf(whole);
        }
        await yieldAfter(pace, piece.bytes.length);
      }
      if (ended) break;
      const hint = await (signal ? nextEvent(notifier, signal) : notifier.next());
      if (hint === null) return;
      ended = hint === "ended";
      fresh = ended || capture !== "merged" ? null : pieceAtHand(notifier, position);
    }
    for (const piece of flushPartial(held)) yield chunkOf(piece);
  } finally {
    closeSessionLog(log);
  }
}

/** Returns the notifier's output if it continues at `position`, which saves reading the files. */
function pieceAtHand(notifier: OutputNotifier, position: number): Piece | null {
  const fresh = notifier.fresh?.() ?? null;
  return fresh?.offset === position ? { ...fresh, stream: "output", dropped: 0, position } : null;
}

/** Returns the next event, or null once aborted, even if the notifier ignores the signal. */
async function nextEvent(notifier: OutputNotifier, signal: AbortSignal): Promise<"grew" | "ended" | null> {
  if (signal.aborted) return null;
  const aborted = Promise.withResolvers<null>();
  const onAbort = () => aborted.resolve(null);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([notifier.next(signal), aborted.promise]);
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The maximum amount of output held in memory for a follower. A slow follower reads the rest from the log. */
const MOST_PENDING_BYTES = 16 * 1024;

/** Creates a notifier that reports the growth and end of an execution's output. */
export function outputNotifier(execution: Execution | null): OutputNotifier & { stop(): void } {
  let grew = false;
  let ended = execution === null;
  let notifier: (() => void) | null = null;
  const came = new PendingOutput();
  const ring = () => {
    notifier?.();
    notifier = null;
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
            signal?.removeEventListener("abort", done); // Otherwise every piece of a long log would leak a listener.
            resolve();
          };
          notifier = done;
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

/** Output since the last `take`, as one piece; nothing if a part of it is not in memory. */
class PendingOutput {
  #pieces: OutputDelta[] = [];
  #bytes = 0;
  #broken = false;

  add(fresh: OutputDelta | undefined): void {
    const last = this.#pieces.at(-1);
    const follows = fresh && (!last || last.offset + last.bytes.length === fresh.offset);
    if (!follows || this.#bytes + fresh.bytes.length > MOST_PENDING_BYTES) this.#broken = true;
    if (this.#broken) this.#pieces = [];
    else if (fresh) this.#pieces.push(fresh);
    this.#bytes += fresh?.bytes.length ?? 0;
  }

  take(): OutputDelta | null {
    const [first, ...more] = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    this.#broken = false;
    if (!first || more.length === 0) return first ?? null;
    return { ...first, bytes: Buffer.concat([first.bytes, ...more.map(({ bytes }) => bytes)]) };
  }
}

/**
 * Returns the position of the first byte that the reader has not received. One stream may be ahead of the other,
 * because an incomplete character is held back while the other stream continues.
 */
function resumePosition(view: LogView, left: ReadOffsets): number {
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

/** Returns the part of a piece that the reader has not received; null when there is none. */
function unreadPart(piece: Piece, left: ReadOffsets): Piece | null {
  const known = Math.max(0, (left[piece.stream] ?? 0) - piece.offset);
  if (known === 0) return piece;
  if (known >= piece.bytes.length) return null;
  const { offset, position, bytes } = piece;
  return { ...piece, dropped: 0, offset: offset + known, position: position + known, bytes: bytes.subarray(known) };
}
