import { styleText } from "node:util";
import { formatSize } from "../text/size.ts";
import { alignedTable } from "../text/table.ts";
import { fit } from "../text/width.ts";
import { USAGE_COLUMNS, type UsageRow } from "./tables/usage.ts";

/** What a person can sort by, and the key for it. */
export const USAGE_ORDERS = {
  c: { by: "cpu", of: (row: UsageRow) => row.cpuPercent ?? -1 },
  m: { by: "memory", of: (row: UsageRow) => row.memoryBytes },
  t: { by: "time", of: (row: UsageRow) => row.cpuMs },
  w: { by: "written", of: (row: UsageRow) => row.ioWriteBytes },
  n: { by: "name", of: (row: UsageRow) => row.name },
} as const;

export type UsageOrder = keyof typeof USAGE_ORDERS;

export interface UsageView {
  rows: UsageRow[];
  order: UsageOrder;
  /** How many rows were scrolled over. */
  top: number;
}

interface Size {
  columns: number;
  rows: number;
  color: boolean;
}

/** The sum, the titles, the keys and a blank line. */
const FRAME_ROWS = 4;

export function usageRoom({ rows }: Pick<Size, "rows">): number {
  return Math.max(1, rows - FRAME_ROWS);
}

/** Most comes first, names go by the alphabet; what is equal keeps its place from one second to the next. */
export function inOrder(rows: UsageRow[], order: UsageOrder): UsageRow[] {
  const { of } = USAGE_ORDERS[order];
  return rows.toSorted((a, b) => {
    const [left, right] = [of(a), of(b)];
    if (typeof left === "string") return left.localeCompare(String(right));
    return Number(right) - left || a.name.localeCompare(b.name);
  });
}

/** What runs and takes how much, on the whole screen. */
export function usageScreen({ rows, order, top }: UsageView, size: Size): string[] {
  const styled = (style: "bold" | "dim", text: string) =>
    size.color ? styleText(style, text, { validateStream: false }) : text;
  const shown = inOrder(rows, order).slice(top, top + usageRoom(size));
  const [titles = "", ...table] = alignedTable(USAGE_COLUMNS, shown, size.columns).trimEnd().split("\n");
  const more = rows.length > shown.length ? ` (${top + 1} to ${top + shown.length} shown)` : "";
  return [
    fit(`${sum(rows)}${more}`, size.columns),
    ...(rows.length > 0 ? [styled("bold", titles), ...table] : []),
    "",
    styled("dim", fit(keys(order), size.columns)),
  ].slice(0, size.rows);
}

function sum(rows: UsageRow[]): string {
  if (rows.length === 0) return "Nothing is running.";
  const total = (of: (row: UsageRow) => number) => rows.reduce((all, row) => all + of(row), 0);
  const sessions = rows.length === 1 ? "1 session" : `${rows.length} sessions`;
  const cpu = total(({ cpuPercent }) => cpuPercent ?? 0).toFixed(1);
  const processes = total(({ processCount }) => processCount);
  return `${sessions}, ${processes === 1 ? "1 process" : `${processes} processes`}: cpu ${cpu}%, memory ${formatSize(total(({ memoryBytes }) => memoryBytes))}`;
}

function keys(order: UsageOrder): string {
  const sorts = Object.entries(USAGE_ORDERS).map(([key, { by }]) =>
    key === order ? `[${key} ${by}]` : `${key} ${by}`,
  );
  return `sort: ${sorts.join("  ")}   j/k scroll   q quit`;
}
