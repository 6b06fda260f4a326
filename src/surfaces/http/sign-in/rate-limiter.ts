/** Wrong answers at the door: so many at once, and one more each so often. */
const MOST = 10;
const ONE_EACH_MS = 6000;
/** Who keeps failing is told of so often. */
const TELL_EACH_MS = 60_000;
/** Addresses that are remembered; beyond, all others share one account. */
const MOST_ADDRESSES = 10_000;

interface Account {
  wrong: number;
  atMs: number;
  /** When the operator was last told; null: never. */
  toldMs: number | null;
  untold: number;
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
    this.#kept(address).wrong += 1;
  }

  /** To be asked with each wrong secret: how many are to be told of now; null: it was told of lately. */
  toTell(address: string): number | null {
    const account = this.#kept(address);
    account.untold += 1;
    const { toldMs, untold } = account;
    if (toldMs !== null && account.atMs - toldMs < TELL_EACH_MS) return null;
    account.toldMs = account.atMs;
    account.untold = 0;
    return untold;
  }

  #kept(address: string): Account {
    const account = this.#account(address);
    const key = this.#accounts.has(address) || this.#accounts.size < MOST_ADDRESSES ? address : "others";
    this.#accounts.set(key, account);
    return account;
  }

  #account(address: string): Account {
    const nowMs = this.#now();
    if (this.#accounts.size >= MOST_ADDRESSES) this.#forgetOld(nowMs);
    const known =
      this.#accounts.get(address) ?? (this.#accounts.size < MOST_ADDRESSES ? null : this.#accounts.get("others"));
    if (!known) return { wrong: 0, atMs: nowMs, toldMs: null, untold: 0 };
    known.wrong = Math.max(0, known.wrong - (nowMs - known.atMs) / ONE_EACH_MS);
    known.atMs = nowMs;
    return known;
  }

  #forgetOld(nowMs: number): void {
    for (const [address, { wrong, atMs, toldMs }] of this.#accounts) {
      if (toldMs !== null && nowMs - toldMs < TELL_EACH_MS) continue;
      if (wrong - (nowMs - atMs) / ONE_EACH_MS <= 0) this.#accounts.delete(address);
    }
  }
}
