import { tooManyStreams } from "../errors.ts";
import type { Caller } from "./caller.ts";

export interface ConnectionLimits {
  perCaller: number;
  inAll: number;
}

/** Limits how many connections (or large request bodies) are open at once, for each caller and in total. */
export class ConnectionLimiter {
  readonly #limits: ConnectionLimits;
  readonly #refusal: (limits: ConnectionLimits) => Error;
  readonly #open = new Map<string, number>();
  #count = 0;

  constructor(limits: ConnectionLimits, refusal: (limits: ConnectionLimits) => Error = tooManyStreams) {
    this.#limits = limits;
    this.#refusal = refusal;
  }

  /** Counts one more and returns the function that releases it. Throws when a limit is reached. */
  acquire({ name, agent }: Pick<Caller, "name" | "agent">): () => void {
    const caller = JSON.stringify([name, agent]);
    const own = this.#open.get(caller) ?? 0;
    if (own >= this.#limits.perCaller || this.#count >= this.#limits.inAll) throw this.#refusal(this.#limits);
    this.#open.set(caller, own + 1);
    this.#count++;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#count--;
      const left = (this.#open.get(caller) ?? 1) - 1;
      if (left > 0) this.#open.set(caller, left);
      else this.#open.delete(caller);
    };
  }
}
