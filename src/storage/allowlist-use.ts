import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Verdict } from "../core/policy.ts";

const RULE = "allowlist:";

/** Records when allowlist entries were last used, so that an operator can see which are needed. */
export class AllowlistUse {
  readonly #touch: StatementSync;
  readonly #last: StatementSync;

  constructor(database: DatabaseSync) {
    this.#touch = database.prepare(
      `INSERT INTO allowlist_use (pattern, last_used_ms) VALUES (?, ?)
       ON CONFLICT (pattern) DO UPDATE SET last_used_ms = excluded.last_used_ms`,
    );
    this.#last = database.prepare("SELECT last_used_ms AS ms FROM allowlist_use WHERE pattern = ?");
  }

  /** Records the entries that allowed a run. Called in the transaction that records the run. */
  record({ reasons }: Verdict): void {
    for (const { rule } of reasons) if (rule.startsWith(RULE)) this.#touch.run(rule.slice(RULE.length), Date.now());
  }

  /** Returns the time of an entry's last use (ISO 8601), or null when the entry was never used. */
  lastUsed(pattern: string): string | null {
    const row = this.#last.get(pattern) as { ms: number } | undefined;
    return row ? new Date(row.ms).toISOString() : null;
  }
}
