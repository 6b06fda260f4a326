import type { DatabaseSync } from "node:sqlite";

/** Runs `work` as one transaction: all of it is stored or none. Inside another one it simply joins it. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  if (database.isTransaction) return work();
  // IMMEDIATE: two gateways never both believe they may write, so nothing has to be tried again half-way.
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
