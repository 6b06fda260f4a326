import { SallyportError } from "../core/error.ts";

/** How many sessions an agent may have, and how fast it may start them. */
interface QuotaLimits {
  sessions: number;
  startsPerMinute: number;
}

/** What the store knows, of every gateway on the state folder. */
export interface SessionCounts {
  /** From `limit` on it is worth a closer look: some may have ended with nobody watching. */
  running(agent: string, limit: number): number;
  startedSince(agent: string, sinceMs: number): number;
}

const MINUTE = 60_000;
const LOOK_EVERY_MS = 500;
const NEAR = 0.75;

/**
 * Keeps one agent from taking the whole machine. Ask in the transaction that records the session: then of several
 * gateways at the limit just one gets the last place.
 */
export class Quota {
  readonly #counts: SessionCounts;
  /** Times of this gateway's own admissions, by agent. A session that was removed since still counts here. */
  readonly #starts = new Map<string, Window>();

  constructor(counts: SessionCounts) {
    this.#counts = counts;
  }

  /** Lets one more session of the agent start, or says why not. */
  admit(agent: string, limits: QuotaLimits, now = Date.now()): void {
    const running = this.#counts.running(agent, limits.sessions);
    if (running >= limits.sessions) throw tooMany(agent, running, limits.sessions);
    let own = this.#starts.get(agent);
    if (!own) {
      own = new Window();
      this.#starts.set(agent, own);
    }
    const started = Math.max(own.since(now - MINUTE), this.#total(agent, own, limits, now));
    if (started >= limits.startsPerMinute) throw tooFast(agent, limits.startsPerMinute, own.oldest, now);
    own.add(now);
  }

  /**
   * Counting a minute's rows takes longer the more there are: all gateways' are counted now and then, ours always.
   * Near the limit each counts all of them every time, so that together they keep it.
   */
  #total(agent: string, own: Window, { startsPerMinute }: QuotaLimits, now: number): number {
    const near = own.total >= startsPerMinute * NEAR;
    if (near || now - own.lookedAt > LOOK_EVERY_MS) own.look(now, this.#counts.startedSince(agent, now - MINUTE));
    return own.total;
  }
}

/** Times in order, oldest first; those that have left the minute are dropped a batch at a time. */
class Window {
  #times: number[] = [];
  #first = 0;
  /** When all gateways' starts were last counted, and what has come to it since. */
  lookedAt = Number.NEGATIVE_INFINITY;
  total = 0;

  look(now: number, total: number): void {
    this.lookedAt = now;
    this.total = total;
  }

  get oldest(): number | null {
    return this.#times[this.#first] ?? null;
  }

  add(time: number): void {
    this.#times.push(time);
    this.total++;
  }

  since(time: number): number {
    while (this.#first < this.#times.length && (this.#times[this.#first] ?? 0) < time) this.#first++;
    if (this.#first > 1024) {
      this.#times = this.#times.slice(this.#first);
      this.#first = 0;
    }
    return this.#times.length - this.#first;
  }
}

function tooMany(agent: string, running: number, limit: number): SallyportError {
  return new SallyportError(
    "ResourceLimitExceeded",
    `This agent has reached its limit of ${limit} running session${limit === 1 ? "" : "s"}.`,
    [
      { action: "check_status", hint: "List the running sessions and stop those that are no longer needed." },
      { action: "retry", hint: "Or wait for one to end, then try again." },
      { action: "increase_limits", hint: "The operator can raise `limits.sessions` in sallyport.json." },
    ],
    { limit: "sessions", value: limit, running, agent },
  );
}

function tooFast(agent: string, limit: number, oldest: number | null, now: number): SallyportError {
  const seconds = oldest === null ? 60 : Math.max(1, Math.ceil((oldest + MINUTE - now) / 1000));
  return new SallyportError(
    "ResourceLimitExceeded",
    `This agent has reached its limit of ${limit} session start${limit === 1 ? "" : "s"} per minute.`,
    [
      { action: "retry", hint: `Try again in ${seconds} s.` },
      { action: "optimize", hint: "Combine several commands into one shell text." },
      { action: "increase_limits", hint: "The operator can raise `limits.startsPerMinute` in sallyport.json." },
    ],
    { limit: "startsPerMinute", value: limit, agent },
  );
}
