import { tooManyStreams } from "../errors.ts";

interface ConnectionLimits {
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

  /** Acquires a slot and returns the function that releases it. Throws when a limit is reached. */
  acquire({ name, agent }: { name: string; agent: string | null }): () => void {
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

/** Failed sign-ins allowed per address: `BURST` in quick succession, then one every `REFILL_MS`. */
const BURST = 10;
const REFILL_MS = 6000;
/** Minimum interval between audit entries about failures from the same address. */
const REPORT_MS = 60_000;
/** Maximum number of addresses tracked individually. All others share one bucket. */
const MAX_ADDRESSES = 10_000;
const SHARED = "others";

interface Bucket {
  failures: number;
  atMs: number;
  /** When failures were last reported; null when they never were. */
  reportedMs: number | null;
  unreported: number;
}

/** Limits the rate of failed sign-ins. Secrets are too long to guess; the limit mainly keeps the audit log short. */
export class RateLimiter {
  readonly #buckets = new Map<string, Bucket>();

  /** Returns the milliseconds until this address may try again. */
  waitMs(address: string): number {
    const { failures } = this.#bucket(address);
    return failures < BURST ? 0 : Math.ceil((failures - BURST + 1) * REFILL_MS);
  }

  failed(address: string): void {
    this.#stored(address).failures += 1;
  }

  /**
   * Counts a wrong secret. Returns the number of failures to report now; null when the address was reported recently.
   */
  toReport(address: string): number | null {
    const bucket = this.#stored(address);
    bucket.unreported += 1;
    const { reportedMs, unreported } = bucket;
    if (reportedMs !== null && bucket.atMs - reportedMs < REPORT_MS) return null;
    bucket.reportedMs = bucket.atMs;
    bucket.unreported = 0;
    return unreported;
  }

  #stored(address: string): Bucket {
    const bucket = this.#bucket(address);
    const key = this.#buckets.has(address) || this.#buckets.size < MAX_ADDRESSES ? address : SHARED;
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #bucket(address: string): Bucket {
    const nowMs = performance.now();
    if (this.#buckets.size >= MAX_ADDRESSES) this.#dropEmpty(nowMs);
    const known = this.#buckets.get(address) ?? (this.#buckets.size < MAX_ADDRESSES ? null : this.#buckets.get(SHARED));
    if (!known) return { failures: 0, atMs: nowMs, reportedMs: null, unreported: 0 };
    known.failures = Math.max(0, known.failures - (nowMs - known.atMs) / REFILL_MS);
    known.atMs = nowMs;
    return known;
  }

  #dropEmpty(nowMs: number): void {
    for (const [address, { failures, atMs, reportedMs }] of this.#buckets) {
      if (reportedMs !== null && nowMs - reportedMs < REPORT_MS) continue;
      if (failures - (nowMs - atMs) / REFILL_MS <= 0) this.#buckets.delete(address);
    }
  }
}
