import type { Execution } from "../executor/executor.ts";
import type { LogWake } from "./logs/index.ts";

/** Turns an execution's growth and end into what a log follower waits for. */
export function wakeOf(execution: Execution | null): LogWake & { stop(): void } {
  let grew = false;
  let ended = execution === null;
  let wake: (() => void) | null = null;
  const ring = () => {
    wake?.();
    wake = null;
  };
  const stop = execution?.onGrew(() => {
    grew = true;
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
    stop: () => stop?.(),
  };
}
