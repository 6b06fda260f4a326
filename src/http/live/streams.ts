/** What stays open and is looked after from time to time. */
export interface Kept {
  beat(): void;
  close(): void;
}

const HEARTBEAT_MS = 15_000;

/** All streams of a kind: one timer for all, and a way to end them. */
export class Streams {
  readonly #kept = new Set<Kept>();
  readonly #timer: NodeJS.Timeout;

  constructor(everyMs: number = HEARTBEAT_MS) {
    this.#timer = setInterval(() => {
      for (const each of [...this.#kept]) each.beat();
    }, everyMs);
    this.#timer.unref();
  }

  /** Of those that were ended because their reader was too slow. */
  cut = 0;

  get count(): number {
    return this.#kept.size;
  }

  /** Returns how to let go of it. */
  add(kept: Kept): () => void {
    this.#kept.add(kept);
    return () => this.#kept.delete(kept);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const each of [...this.#kept]) each.close();
  }
}
