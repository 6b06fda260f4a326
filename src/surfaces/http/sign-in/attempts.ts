/** Wrong answers at the door: so many at once, and one more each so often. */
const MOST = 10;
const ONE_EACH_MS = 6000;
/** Addresses that are remembered; beyond, all others share one account. */
const MOST_ADDRESSES = 10_000;

interface Account {
  wrong: number;
  atMs: number;
}

/** Keeps whoever guesses from guessing quickly. Secrets are long: this is against noise more than against luck. */
export class Attempts {
  readonly #accounts = new Map<string, Account>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How many ms until this address may try again; 0: now. */
  waitMs(address: string): number {
    const { wrong } = this.#account(address);
    return wrong < MOST ? 0 : Math.ceil((wrong - MOST + 1) * ONE_EACH_MS);
  }

  failed(address: string): void {
    const account = this.#account(address);
    account.wrong += 1;
    const key = this.#accounts.has(address) || this.#accounts.size < MOST_ADDRESSES ? address : "others";
    this.#accounts.set(key, account);
  }

  #account(address: string): Account {
    const nowMs = this.#now();
    if (this.#accounts.size >= MOST_ADDRESSES) this.#forgetOld(nowMs);
    const known =
      this.#accounts.get(address) ?? (this.#accounts.size < MOST_ADDRESSES ? null : this.#accounts.get("others"));
    if (!known) return { wrong: 0, atMs: nowMs };
    known.wrong = Math.max(0, known.wrong - (nowMs - known.atMs) / ONE_EACH_MS);
    known.atMs = nowMs;
    return known;
  }

  #forgetOld(nowMs: number): void {
    for (const [address, { wrong, atMs }] of this.#accounts) {
      if (wrong - (nowMs - atMs) / ONE_EACH_MS <= 0) this.#accounts.delete(address);
    }
  }
}
