import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isSqliteError, stateError } from "./database.ts";

interface Frame {
  begin: StatementSync;
  commit: StatementSync;
}

/** Prepared once for each database: preparing takes longer than beginning. */
const frames = new WeakMap<DatabaseSync, Frame>();

function frameOf(database: DatabaseSync): Frame {
  let frame = frames.get(database);
  if (!frame) {
    // IMMEDIATE: two gateways never both believe they may write, so nothing has to be tried again half-way.
    frame = { begin: database.prepare("BEGIN IMMEDIATE"), commit: database.prepare("COMMIT") };
    frames.set(database, frame);
  }
  return frame;
}

/** Runs `work` as one transaction: all of it is stored or none. Inside another one it simply joins it. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  if (database.isTransaction) return work();
  try {
    const { begin, commit } = frameOf(database);
    begin.run();
    const result = work();
    commit.run();
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    // A full disk may show as late as the commit.
    throw isSqliteError(error) ? stateError(database.location() ?? "the database", error) : error;
  }
}
