import { SallyportError } from "../core/error.ts";
import { nextStep } from "../core/next-step.ts";

/** The limits of one agent: running sessions, and starts per minute. */
interface QuotaLimits {
  sessions: number;
  startsPerMinute: number;
}

/** Session counts from the database, for all gateways of the state folder. */
export interface SessionCounts {
  /** Returns the number of running sessions. If it reaches `limit`, records missed exits first and counts again. */
  running(agent: string, limit: number): number;
  /**
   * Returns the number of starts within `withinMs` of a time. Later starts count, because the clock may have been set
   * back by a little; if it was set back by more, they were not in the last minute.
   */
  startedAround(agent: string, nowMs: number, withinMs: number): number;
}

const MINUTE = 60_000;
const LOOK_EVERY_MS = 500;
const NEAR = 0.75;

/**
 * Limits the sessions of each agent. `admit` must run in the transaction that records the session, so that concurrent
 * gateways cannot exceed the limit together.
 */
export class Quota {
  readonly #counts: SessionCounts;
  /** The start times of this gateway's sessions, by agent. Sessions that have been removed still count. */
  readonly #starts = new Map<string, Window>();

  constructor(counts: SessionCounts) {
    this.#counts = counts;
  }

  /** Admits one more session of the agent. Throws ResourceLimitExceeded. */
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
   * Returns the starts of all gateways within the last minute. Counting rows is slow, so the count is refreshed at
   * intervals and this gateway's starts are added. Near the limit it is refreshed every time, so that the limit is
   * exact.
   */
  #total(agent: string, own: Window, { startsPerMinute }: QuotaLimits, now: number): number {
    if (own.lookedAt > now) own.lookedAt = Number.NEGATIVE_INFINITY; // the clock was set back
    const near = own.total >= startsPerMinute * NEAR;
    if (near || now - own.lookedAt > LOOK_EVERY_MS) own.look(now, this.#counts.startedAround(agent, now, MINUTE));
    return own.total;
  }
}

/** The start times of the last minute, oldest first. Expired times are removed in batches. */
class Window {
  #times: number[] = [];
  #first = 0;
  /** When the starts of all gateways were last counted. */
  lookedAt = Number.NEGATIVE_INFINITY;
  /** The number of starts counted at `lookedAt`, plus this gateway's starts since then. */
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
    // Later times than now are from before the clock was set back.
    if ((this.#times.at(-1) ?? 0) > time + MINUTE) {
      this.#times = this.#times.slice(this.#first).filter((each) => each <= time + MINUTE);
      this.#first = 0;
    }
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
      nextStep("check_status", { name: "stop-some-sessions" }),
      { action: "retry", hint: "Or wait for one to end, then try again." },
      nextStep("increase_limits", { name: "raise-limit", key: "limits.sessions", requestable: false }),
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
      { action: "optimize", hint: "Combine several commands into one." },
      nextStep("increase_limits", { name: "raise-limit", key: "limits.startsPerMinute", requestable: false }),
    ],
    { limit: "startsPerMinute", value: limit, agent },
  );
}
