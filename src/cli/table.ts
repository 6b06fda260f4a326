import { formatAge, formatDuration } from "../text/format.ts";
import { alignedTable, type Column, tabbedTable } from "../text/table.ts";
import type { Invocation } from "./command.ts";
import { printJson } from "./io.ts";

const SHORTEST = 13;

/** Shortens IDs to 13 characters, the timestamp of a UUIDv7, or to the length at which they differ. */
export function shortIds(ids: string[]): (id: string) => string {
  return (id) => {
    let length = SHORTEST;
    while (length < id.length && ids.some((other) => other !== id && other.startsWith(id.slice(0, length))))
      length += 1;
    return id.slice(0, length);
  };
}

/** Returns the time until or since expiry, for example `in 5m`. */
export function expiryText(expiresAt: string | null, nowMs: number): string {
  if (expiresAt === null) return "never";
  const left = Date.parse(expiresAt) - nowMs;
  return left > 0 ? `in ${formatDuration(left)}` : `${formatAge(-left)} ago`;
}

/** Returns the time since `at`, for example `5m ago`, or `never`. */
export function agoText(at: string | null, nowMs: number): string {
  return at === null ? "never" : `${formatAge(nowMs - Date.parse(at))} ago`;
}

interface ListFormat<Row> {
  /** Returns the columns for a terminal. */
  columns: () => Column<Row>[];
  /** The columns for a pipe, with values that are not shortened. */
  piped: Column<Row>[];
  /** The message on a terminal when there are no rows. */
  empty: string;
}

/** Prints a list as JSON, as a table on a terminal, or as tab-separated lines in a pipe. */
export function printList<Row>(
  rows: Row[],
  { columns, piped, empty }: ListFormat<Row>,
  { values, io }: Pick<Invocation, "values" | "io">,
): void {
  if (values.json) printJson(rows, io);
  else if (!io.isTTY.stdout) io.out(tabbedTable(piped, rows));
  else if (rows.length === 0) io.err(`${empty}\n`);
  else io.out(alignedTable(columns(), rows, io.columns));
}
