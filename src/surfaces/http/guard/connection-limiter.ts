import { tooManyStreams } from "../../../present/http-errors.ts";
import type { Caller } from "./caller.ts";

export interface PlaceLimits {
  perCaller: number;
  inAll: number;
}

/** How many may be open at once, of one caller and of all: what stays open is what could pile up. */
export class Places {
  readonly #limits: PlaceLimits;
  readonly #refusal: (limits: PlaceLimits) => Error;
  readonly #taken = new Map<string, number>();
  #count = 0;

  constructor(limits: PlaceLimits, refusal: (limits: PlaceLimits) => Error = tooManyStreams) {
    this.#limits = limits;
    this.#refusal = refusal;
  }

  get count(): number {
    return this.#count;
  }

  /** Returns how to give it back; throws when there is none. */
  take({ name, agent }: Pick<Caller, "name" | "agent">): () => void {
    const who = JSON.stringify([name, agent]);
    const own = this.#taken.get(who) ?? 0;
    if (own >= this.#limits.perCaller || this.#count >= this.#limits.inAll) throw this.#refusal(this.#limits);
    this.#taken.set(who, own + 1);
    this.#count++;
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#count--;
      const left = (this.#taken.get(who) ?? 1) - 1;
      if (left > 0) this.#taken.set(who, left);
      else this.#taken.delete(who);
    };
  }
}
