import type { Execution, FreshOutput } from "../executor/executor.ts";
import type { LogWake } from "./logs/index.ts";

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
