import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Verdict } from "../core/policy.ts";

const RULE = "allowlist:";

/** When entries of the configured allowlist were last used, so that a person can see which are needed. */
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

  /** In the transaction that records the run which the verdict let through. */
  record({ reasons }: Verdict): void {
    for (const { rule } of reasons) if (rule.startsWith(RULE)) this.#touch.run(rule.slice(RULE.length), Date.now());
  }

  /** ISO time; null: never. */
  lastUsed(pattern: string): string | null {
    const row = this.#last.get(pattern) as { ms: number } | undefined;
    return row ? new Date(row.ms).toISOString() : null;
  }
}
