import type { DatabaseSync, StatementSync } from "node:sqlite";

/** How often the database is checked for changes by other processes: one cheap pragma for all waiters. */
const POLL_MS = 100;

/** The maximum duration of a timer, so that a change of the system clock does not delay an expiry for long. */
const TIMER_MAX_MS = 30_000;

interface WaitLimits<T> {
  signal?: AbortSignal;
  timeoutMs?: number;
  /** Returns the time until the next check, in milliseconds, if nothing changes before then. */
  dueInMs(): number;
  /** Returns the result after `timeoutMs`. */
  otherwise(): T;
}

/**
 * Notifies waiters of decisions: immediately for those made in this process, by polling for those of other processes.
 */
export class DecisionWaiters {
  readonly #version: StatementSync;
  readonly #waiting = new Set<() => void>();
  #seen: unknown = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(database: DatabaseSync) {
    this.#version = database.prepare("PRAGMA data_version");
  }

  /** Calls `check` whenever the database may have changed. Returns a function that removes the waiter. */
  add(check: () => void): () => void {
    this.#waiting.add(check);
    if (this.#timer === null) {
      this.#seen = this.#current();
      this.#timer = setInterval(() => this.#poll(), POLL_MS);
    }
    return () => {
      this.#waiting.delete(check);
      if (this.#waiting.size > 0 || this.#timer === null) return;
      clearInterval(this.#timer);
      this.#timer = null;
    };
  }

  /** Calls `answer` whenever the database may have changed, until it returns a value or the time is up. */
  until<T>(answer: () => T | null, limits: WaitLimits<T>): Promise<T> {
    const { signal, timeoutMs = Number.POSITIVE_INFINITY } = limits;
    const endMs = performance.now() + timeoutMs;
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout;
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        remove();
        signal?.removeEventListener("abort", abort);
        settle();
      };
      const abort = () => finish(() => reject(signal?.reason));
      const check = () => {
        clearTimeout(timer);
        try {
          const found = answer() ?? (performance.now() >= endMs ? limits.otherwise() : null);
          if (found !== null) return finish(() => resolve(found));
        } catch (error) {
          return finish(() => reject(error));
        }
        const dueMs = Math.min(endMs - performance.now(), limits.dueInMs());
        timer = setTimeout(check, Math.min(Math.max(dueMs, 1), TIMER_MAX_MS));
      };
      const remove = this.add(check);
      signal?.addEventListener("abort", abort, { once: true });
      check();
    });
  }

  notify(): void {
    for (const check of [...this.#waiting]) check();
  }

  #poll(): void {
    const current = this.#current();
    if (current === this.#seen && current !== null) return;
    this.#seen = current;
    this.notify();
  }

  /**
   * Returns the data version, or null when the database is closed. Waiters are then notified, and fail on their check.
   */
  #current(): unknown {
    try {
      return this.#version.get()?.data_version;
    } catch {
      return null;
    }
  }
}
