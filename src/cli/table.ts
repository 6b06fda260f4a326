import { formatAge, formatDuration } from "../text/format.ts";
import { alignedTable, type Column, tabbedTable } from "../text/table.ts";
import type { Invocation } from "./command.ts";
import { printJson } from "./io.ts";

const SHORTEST = 13;

/** The first 13 characters of a UUIDv7 are its millisecond; ids that share one are shown as far as they differ. */
export function shortIds(ids: string[]): (id: string) => string {
  return (id) => {
    let length = SHORTEST;
    while (length < id.length && ids.some((other) => other !== id && other.startsWith(id.slice(0, length))))
      length += 1;
    return id.slice(0, length);
  };
}

/** When something expires, for a person. */
export function expiryText(expiresAt: string | null, nowMs: number): string {
  if (expiresAt === null) return "never";
  const left = Date.parse(expiresAt) - nowMs;
  return left > 0 ? `in ${formatDuration(left)}` : `${formatAge(-left)} ago`;
}

/** How long ago something was, for a person. */
export function agoText(at: string | null, nowMs: number): string {
  return at === null ? "never" : `${formatAge(nowMs - Date.parse(at))} ago`;
}

interface ListFormat<Row> {
  /** For a person. */
  columns: () => Column<Row>[];
  /** For a program: nothing is shortened. */
  piped: Column<Row>[];
  /** Shown to a person in place of an empty table. */
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
