import type { DatabaseSync, StatementSync } from "node:sqlite";

/** How often it is looked whether another process has written to the database; one cheap pragma for all who wait. */
const POLL_MS = 100;

/** Also when the clock is set: nobody waits much past their time. */
const TIMER_MAX_MS = 30_000;

interface WaitLimits<T> {
  signal?: AbortSignal;
  timeoutMs?: number;
  /** When to check again by itself. */
  dueInMs(): number;
  /** The answer when the time is up. */
  otherwise(): T;
}

/** Wakes those who wait for a decision: at once when it is made here, within a moment when it is made elsewhere. */
export class DecisionWaiters {
  readonly #version: StatementSync;
  readonly #waiting = new Set<() => void>();
  #seen: unknown = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(database: DatabaseSync) {
    this.#version = database.prepare("PRAGMA data_version");
  }

  /** `check` is called whenever something may have changed. Returns how to stop. */
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

  /** Asks `answer` whenever something may have changed, until it is not null or the time is up. */
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

  /** Null: the database was closed. Whoever still waits finds out by looking, and fails rather than waits for ever. */
  #current(): unknown {
    try {
      return this.#version.get()?.data_version;
    } catch {
      return null;
    }
  }
}
