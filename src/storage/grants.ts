import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Deadlines } from "./deadlines.ts";

/** A row of the grants table. */
export interface GrantRow {
  id: string;
  agent: string;
  executable: string;
  identity: string;
  args: string;
  cwd: string;
  piped: number;
  approval: string | null;
  created_ms: number;
  created_by: string;
  expires_ms: number | null;
  /** How far ahead `expires_ms` was set. */
  lasts_ms: number | null;
  last_used_ms: number | null;
  revoked_ms: number | null;
  change: number;
}

type NewGrantRow = Omit<GrantRow, "expires_ms" | "last_used_ms" | "revoked_ms" | "change">;

const NEXT_CHANGE = "(SELECT coalesce(max(change), 0) + 1 FROM grants)";

/** The grants table. */
export class GrantStore {
  readonly #insert: StatementSync;
  readonly #revoke: StatementSync;
  readonly #revokeSame: StatementSync;
  readonly #live: StatementSync;
  readonly #all: StatementSync;
  readonly #byId: StatementSync;
  readonly #byPrefix: StatementSync;
  readonly #used: StatementSync;
  readonly #version: StatementSync;
  readonly #deadlines: Deadlines;

  constructor(database: DatabaseSync) {
    this.#deadlines = new Deadlines(database, "grants");
    this.#insert = database.prepare(
      `INSERT INTO grants (id, agent, executable, identity, args, cwd, piped, approval, created_ms, created_by, expires_ms, lasts_ms, change)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${NEXT_CHANGE})`,
    );
    this.#revoke = database.prepare(
      `UPDATE grants SET revoked_ms = ?, change = ${NEXT_CHANGE} WHERE id = ? AND revoked_ms IS NULL`,
    );
    // Revoked one by one: each change takes the next number, and numbers are unique.
    this.#revokeSame = database.prepare(
      `SELECT id FROM grants
       WHERE agent = ? AND executable = ? AND args = ? AND cwd = ? AND piped = ? AND revoked_ms IS NULL`,
    );
    this.#live = database.prepare("SELECT * FROM grants WHERE revoked_ms IS NULL ORDER BY id");
    this.#all = database.prepare("SELECT * FROM grants ORDER BY id DESC");
    this.#byId = database.prepare("SELECT * FROM grants WHERE id = ?");
    this.#byPrefix = database.prepare("SELECT * FROM grants WHERE id >= ? AND id < ? ORDER BY id LIMIT 2");
    this.#used = database.prepare("UPDATE grants SET last_used_ms = ? WHERE id = ?");
    this.#version = database.prepare("SELECT max(change) AS change FROM grants");
  }

  /** Inserts a grant and revokes earlier grants for the same command, so that a list never shows duplicates. */
  insert(row: NewGrantRow): void {
    const same = this.#revokeSame.all(row.agent, row.executable, row.args, row.cwd, row.piped);
    for (const { id } of same as unknown as { id: string }[]) this.revoke(id, row.created_ms);
    const { id, agent, executable, identity, args, cwd, piped, approval, created_ms, created_by, lasts_ms } = row;
    const expires = lasts_ms === null ? null : created_ms + lasts_ms;
    const columns = [id, agent, executable, identity, args, cwd, piped, approval, created_ms, created_by];
    this.#insert.run(...columns, expires, lasts_ms);
  }

  /** Revokes a grant. Returns false when it was already revoked. */
  revoke(id: string, nowMs: number): boolean {
    return this.#revoke.run(nowMs, id).changes === 1;
  }

  /** Corrects expiry times if the clock was set back, and returns whether rows that were read may be outdated. */
  limitExpiry(nowMs: number): boolean {
    return this.#deadlines.limit(nowMs);
  }

  live(): GrantRow[] {
    return this.#live.all() as unknown as GrantRow[];
  }

  all(): GrantRow[] {
    return this.#all.all() as unknown as GrantRow[];
  }

  get(id: string): GrantRow | null {
    return (this.#byId.get(id) as unknown as GrantRow | undefined) ?? null;
  }

  withPrefix(prefix: string): GrantRow[] {
    return this.#byPrefix.all(prefix, `${prefix}g`) as unknown as GrantRow[];
  }

  used(id: string, nowMs: number): void {
    this.#used.run(nowMs, id);
  }

  /** Returns a number that changes whenever a grant is created or revoked. This takes a single index lookup. */
  version(): number {
    return Number(this.#version.get()?.change ?? 0);
  }
}
