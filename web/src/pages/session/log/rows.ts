import type { Line, Region } from "./region.ts";
import { linesOf } from "./region.ts";
import { type Run, renderLine, wrapRuns } from "./render.ts";

/** One row on the screen: a line, or a part of a wrapped line. */
export interface Row {
  line: Line;
  /** Index of the row within its line. */
  part: number;
  runs: Run[];
}

/** Columns at which lines wrap even when wrapping is off. */
export const UNWRAPPED = 2000;

export function rowsOf(region: Region, columns: number, raw: boolean): Row[] {
  const rows: Row[] = [];
  for (const line of linesOf(region)) {
    const { runs } = renderLine(line.text, line.pen, raw);
    wrapRuns(runs, columns).forEach((each, part) => {
      rows.push({ line, part, runs: each });
    });
  }
  return rows;
}

/** Returns the index of the last row that starts at or before the position. */
export function rowAt(rows: readonly Row[], position: number, part = 0): number {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const row = rows[middle] as Row;
    const isAfter = row.line.position > position || (row.line.position === position && row.part > part);
    if (isAfter) high = middle - 1;
    else low = middle;
  }
  return low;
}
