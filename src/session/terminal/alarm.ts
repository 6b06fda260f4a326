import { LONGEST_TIMER_MS } from "../../core/clock.ts";
import type { Execution } from "../../executor/executor.ts";

/** Wakes one waiter when an execution's output grows, its main process ends, a moment has come, or it is called off. */
export class Alarm {
  ended = false;
  #rung = false;
  #wake: (() => void) | null = null;
  readonly #signal: AbortSignal | undefined;
  readonly #ring = () => {
    this.#rung = true;
    this.#wake?.();
  };
  readonly #stopListening: (() => void) | undefined;

  constructor(execution: Execution | null, signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#stopListening = execution?.onGrew(this.#ring);
    void execution?.exited.then(() => {
      this.ended = true;
      this.#ring();
    });
    signal?.addEventListener("abort", this.#ring, { once: true });
  }

  /** Whatever has rung since the last call counts: nothing is missed in between. `atMs` is by `performance.now`. */
  async next(atMs: number): Promise<void> {
    const delay = Math.min(Math.max(0, Math.ceil(atMs - performance.now())), LONGEST_TIMER_MS);
    if (!this.#rung && !this.#signal?.aborted) {
      await new Promise<void>((resolve) => {
        const timer = atMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(resolve, delay);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#wake = null;
    this.#rung = false;
  }

  stop(): void {
    this.#stopListening?.();
    this.#signal?.removeEventListener("abort", this.#ring);
  }
}
