import type { LogTerminal } from "./log-terminal.ts";

/** The number of rendered terminals that are kept; each takes about 3 MB. */
const MOST_KEPT = 8;
const IDLE_MS = 60_000;

interface CachedTerminal {
  terminal: Promise<LogTerminal>;
  /** Settles when the last caller, and with it all earlier ones, has finished. */
  turn: Promise<unknown>;
  idle: NodeJS.Timeout | null;
}

/** Caches rendered terminals, so that a recently used one needs to draw only new output. */
export class ScreenCache {
  readonly #kept = new Map<string, CachedTerminal>();

  /** Calls `use` with the session's terminal, up to date with its log. One caller at a time. */
  async with<T>(id: string, folder: string, use: (terminal: LogTerminal) => T | Promise<T>): Promise<T> {
    const kept = this.#kept.get(id) ?? this.#open(id, folder);
    if (kept.idle) clearTimeout(kept.idle);
    kept.idle = null;
    const turn = kept.turn.then(async () => {
      const terminal = await kept.terminal;
      await terminal.catchUp();
      return use(terminal);
    });
    const last = turn.then(
      () => true,
      () => false,
    );
    kept.turn = last;
    // Moved to the end of the map: the least recently used is dropped first.
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    this.#dropOldest();
    void last.then((fine) => {
      if (kept.turn !== last) return;
      if (!fine) this.#drop(id, kept);
      else if (this.#kept.get(id) === kept) kept.idle = setTimeout(() => this.#drop(id, kept), IDLE_MS).unref();
    });
    return turn;
  }

  /** Drops a session's terminal, before its files are removed. */
  forget(id: string): void {
    const kept = this.#kept.get(id);
    if (kept) this.#drop(id, kept);
  }

  close(): void {
    for (const id of [...this.#kept.keys()]) this.forget(id);
  }

  #open(id: string, folder: string): CachedTerminal {
    // Loaded on first use: most gateways never render a screen, and the module would slow down their start.
    const terminal = import("./log-terminal.ts").then((module) => module.LogTerminal.open(folder));
    const kept: CachedTerminal = { terminal, turn: terminal.catch(() => {}), idle: null };
    this.#kept.set(id, kept);
    return kept;
  }

  #dropOldest(): void {
    for (const [id, kept] of this.#kept) {
      if (this.#kept.size <= MOST_KEPT) return;
      this.#drop(id, kept);
    }
  }

  /** Removes a terminal, and closes it after its last caller has finished. */
  #drop(id: string, kept: CachedTerminal): void {
    if (this.#kept.get(id) === kept) this.#kept.delete(id);
    if (kept.idle) clearTimeout(kept.idle);
    void kept.turn.then(async () => (await kept.terminal).close()).catch(() => {});
  }
}
