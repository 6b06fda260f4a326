/** How many calls may be starting at a time. Well below the sessions an agent may have, so that a burst is not refused. */
const AT_ONCE = 32;
/** A call that takes longer than a burst's should is no longer starting; it must not keep others out. */
const STARTING_MS = 2000;

/**
 * Lets calls in a few at a time. A client may send hundreds at once; all of them are answered, in their order, instead
 * of most being refused for what the first ones use.
 */
export class Turnstile {
  #free = AT_ONCE;
  readonly #waiting = new Set<() => void>();

  /** Resolves with how to leave. Rejects when the caller gives up first: then nothing was started. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    let inside = true;
    const leave = () => {
      if (!inside) return;
      inside = false;
      clearTimeout(timer);
      this.#next();
    };
    const timer = setTimeout(leave, STARTING_MS).unref();
    return leave;
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(go);
        reject(signal.reason);
      };
      this.#waiting.add(go);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** Hands the place on rather than freeing it: who waits longest is next. */
  #next(): void {
    const [go] = this.#waiting;
    if (!go) {
      this.#free++;
      return;
    }
    this.#waiting.delete(go);
    go();
  }
}
