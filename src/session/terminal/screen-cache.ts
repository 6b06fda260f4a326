import type { LogTerminal } from "./log-terminal.ts";

/** Terminals kept drawn up to where they were last looked at; each takes some 3 MB. */
const MOST_KEPT = 8;
const IDLE_MS = 60_000;

interface CachedTerminal {
  terminal: Promise<LogTerminal>;
  /** The last one who uses it, and with them all before. */
  turn: Promise<unknown>;
  idle: NodeJS.Timeout | null;
}

/** The terminals a gateway looks at. One that was looked at a moment ago has only what is new to draw. */
export class ScreenCache {
  readonly #kept = new Map<string, CachedTerminal>();

  /** Calls `use` with the session's terminal as its log has it by now. One caller at a time. */
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
    // The newest is the last to go.
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

  /** Its files are about to go. */
  forget(id: string): void {
    const kept = this.#kept.get(id);
    if (kept) this.#drop(id, kept);
  }

  close(): void {
    for (const id of [...this.#kept.keys()]) this.forget(id);
  }

  #open(id: string, folder: string): CachedTerminal {
    // Loaded when first needed: most gateways never look at a screen, and none should start later for it.
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

  /** Closed when nobody uses it any more. */
  #drop(id: string, kept: CachedTerminal): void {
    if (this.#kept.get(id) === kept) this.#kept.delete(id);
    if (kept.idle) clearTimeout(kept.idle);
    void kept.turn.then(async () => (await kept.terminal).close()).catch(() => {});
  }
}
