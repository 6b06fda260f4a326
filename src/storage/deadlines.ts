import type { DatabaseSync, StatementSync } from "node:sqlite";
import { uptimeMs } from "../core/clock.ts";
import { inTransaction } from "./database.ts";

/** The tables with deadlines: the column, and the rows whose deadline is still to come. */
const TABLES = {
  work: { deadline: "due_ms", open: "done_ms IS NULL" },
  approvals: { deadline: "expires_ms", open: "status IN ('pending', 'approved')" },
  grants: { deadline: "expires_ms", open: "revoked_ms IS NULL" },
  tokens: { deadline: "expires_ms", open: "revoked_ms IS NULL" },
  sign_ins: { deadline: "expires_ms", open: "TRUE" },
  sign_in_links: { deadline: "expires_ms", open: "TRUE" },
} as const;

/** Smaller steps are the usual corrections of a synchronized clock. */
const STEP_MS = 1000;

/**
 * Keeps the deadlines of a table correct when the clock is set back. Each row stores its deadline and, in `lasts_ms`,
 * how far ahead it was set. A deadline that is further ahead than that was set by the clock before the step, so it is
 * set again, counted from now: a lease, a delay or an approval never lasts longer than it was meant to from then on.
 */
export class Deadlines {
  readonly #database: DatabaseSync;
  readonly #late: StatementSync;
  readonly #limit: StatementSync;
  /** The difference between the clock and monotonic time at the last call. */
  #offsetMs = Number.POSITIVE_INFINITY;

  constructor(database: DatabaseSync, table: keyof typeof TABLES) {
    const { deadline, open } = TABLES[table];
    const late = `${open} AND ${deadline} - lasts_ms > :now`;
    this.#database = database;
    this.#late = database.prepare(`SELECT 1 FROM ${table} WHERE ${late} LIMIT 1`);
    this.#limit = database.prepare(`UPDATE ${table} SET ${deadline} = :now + lasts_ms WHERE ${late}`);
  }

  /**
   * Must be called before deadlines are compared with `nowMs`. Examines the table in the first call, because the clock
   * may have been set back while no gateway was running, and after the clock was set back. Returns whether it did.
   */
  limit(nowMs: number): boolean {
    const offsetMs = nowMs - uptimeMs();
    const steady = offsetMs > this.#offsetMs - STEP_MS;
    if (steady) {
      this.#offsetMs = Math.max(this.#offsetMs, offsetMs);
      return false;
    }
    // Looked up first, so that a process that only reads needs no write lock.
    if (this.#late.get({ now: nowMs }) !== undefined)
      inTransaction(this.#database, () => this.#limit.run({ now: nowMs }));
    this.#offsetMs = offsetMs;
    return true;
  }
}
