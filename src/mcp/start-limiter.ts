/** How many commands may be starting at a time. Well below the sessions an agent may have, so that a burst is not refused. */
const AT_ONCE = 32;
/** A command that goes on for longer is no longer part of a burst; it must not keep others out. */
const STARTING_MS = 10_000;

/**
 * Lets commands in a few at a time. A client may send hundreds at once; all of them are answered, in their order, instead
 * of most being refused for what the first ones use.
 */
export class Turnstile {
  readonly #startingMs: number;
  readonly #waiting = new Set<() => void>();
  #free = AT_ONCE;

  constructor({ startingMs = STARTING_MS }: { startingMs?: number } = {}) {
    this.#startingMs = startingMs;
  }

  /**
   * Resolves with how to leave, after `patienceMs` at the latest: then the limits have to say whether there is room.
   * Rejects when the caller gives up first: then nothing was started.
   */
  async enter(signal: AbortSignal, patienceMs: number): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else if (!(await this.#turn(signal, patienceMs))) return () => {};
    let inside = true;
    const leave = () => {
      if (!inside) return;
      inside = false;
      clearTimeout(timer);
      this.#next();
    };
    const timer = setTimeout(leave, this.#startingMs).unref();
    return leave;
  }

  /** False: it did not come in time. */
  #turn(signal: AbortSignal, patienceMs: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#waiting.delete(go);
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
      };
      const go = () => {
        end();
        resolve(true);
      };
      const giveUp = () => {
        end();
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        end();
        resolve(false);
      }, patienceMs);
      this.#waiting.add(go);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** Hands the place on rather than freeing it: who waits longest is next. */
  #next(): void {
    const [go] = this.#waiting;
    if (go) go();
    else this.#free++;
  }
}
