import type { DatabaseSync, StatementSync } from "node:sqlite";

/** How soon a change by another process is noticed. */
const POLL_MS = 100;

interface Wait {
  untilMs: number;
  signal?: AbortSignal;
  /** False: waiting does not keep the process from ending. */
  hold?: boolean;
}

/** Tells waiters in this process that the database has changed, whoever changed it. */
export class WorkWake {
  readonly #version: StatementSync;
  readonly #changes: StatementSync;
  readonly #waiters = new Set<() => void>();

  constructor(database: DatabaseSync) {
    // The first counts what other connections commit, the second what this one does. Neither reads a table.
    this.#version = database.prepare("PRAGMA data_version");
    this.#changes = database.prepare("SELECT total_changes() AS n");
  }

  /** Differs from an earlier answer if anything was written since. */
  stamp(): string {
    return `${this.#version.get()?.data_version}/${this.#changes.get()?.n}`;
  }

  /** Called by who has just written. */
  ring(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  /** Resolves when something was written after `stamp`, at `untilMs`, or when the signal is given. */
  async changed(stamp: string, wait: Wait): Promise<void> {
    while (Date.now() < wait.untilMs && !wait.signal?.aborted && this.stamp() === stamp) {
      await this.#ringOr(Math.min(POLL_MS, wait.untilMs - Date.now()), wait);
    }
  }

  #ringOr(ms: number, { signal, hold = true }: Wait): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiters.delete(wake);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      if (!hold) timer.unref();
      this.#waiters.add(wake);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }
}
