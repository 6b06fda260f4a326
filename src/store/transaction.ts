import type { DatabaseSync } from "node:sqlite";
import { isSqliteError, stateError } from "./database.ts";

/** Runs `work` as one transaction: all of it is stored or none. Inside another one it simply joins it. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  if (database.isTransaction) return work();
  try {
    // IMMEDIATE: two gateways never both believe they may write, so nothing has to be tried again half-way.
    database.exec("BEGIN IMMEDIATE");
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    // A full disk may show as late as the commit.
    throw isSqliteError(error) ? stateError(database.location() ?? "the database", error) : error;
  }
}
