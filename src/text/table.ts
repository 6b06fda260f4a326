import { visible } from "./visible.ts";
import { displayWidth, fit, wrap } from "./width.ts";

export interface Column<Row> {
  title: string;
  value(row: Row): string;
  align?: "left" | "right";
  /** Whether the column may be narrowed when the table is too wide. */
  flexible?: boolean;
  /** Adds styles to the text after it has been measured. */
  style?(text: string, row: Row): string;
}

const GAP = 2;
const NARROWEST = 10;

/** Formats aligned columns with a title line, cut to `width` cells. Each value must be one visible line. */
export function alignedTable<Row>(columns: Column<Row>[], rows: Row[], width: number): string {
  const cells = rows.map((row) => columns.map((column) => column.value(row)));
  const widths = fitWidths(columns, cells, width);
  const title = line(columns, widths, (index) => columns[index]?.title ?? "");
  const body = rows.map((row, at) => line(columns, widths, (index) => cells[at]?.[index] ?? "", row));
  return [title, ...body].map((text) => `${text}\n`).join("");
}

/** Formats rows for another program: one line each, separated by tabs, without titles. */
export function tabbedTable<Row>(columns: Column<Row>[], rows: Row[]): string {
  return rows.map((row) => `${columns.map((column) => column.value(row)).join("\t")}\n`).join("");
}

/** Narrows the widest flexible column by one cell until all columns fit. */
function fitWidths<Row>(columns: Column<Row>[], cells: string[][], width: number): number[] {
  const widths = columns.map((column, index) => {
    const own = cells.reduce((widest, row) => Math.max(widest, displayWidth(row[index] ?? "")), column.title.length);
    return column.flexible ? Math.min(own, Math.max(width, NARROWEST)) : own;
  });
  const room = (index: number) => (columns[index]?.flexible ? (widths[index] ?? 0) - NARROWEST : 0);
  let excess = widths.reduce((sum, each) => sum + each + GAP, -GAP) - width;
  for (; excess > 0; excess--) {
    const widest = [...widths.keys()].reduce((best, index) => (room(index) > room(best) ? index : best));
    if (room(widest) <= 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function line<Row>(columns: Column<Row>[], widths: number[], text: (index: number) => string, row?: Row): string {
  const parts = columns.map((column, index) => {
    const width = widths[index] ?? 0;
    const cut = fit(text(index), width);
    const padding = " ".repeat(width - displayWidth(cut));
    const shown = row !== undefined && column.style ? column.style(cut, row) : cut;
    if (column.align === "right") return padding + shown;
    return index === columns.length - 1 ? shown : shown + padding;
  });
  return parts.join(" ".repeat(GAP));
}

export type Pair = [label: string, value: string];

/** Formats one `label  value` line per pair. Long values are wrapped, not cut. */
export function alignedPairs(pairs: Pair[], width: number): string {
  const column = Math.max(...pairs.map(([label]) => label.length)) + 2;
  const room = Math.max(20, width - column);
  return pairs
    .map(([label, value]) => label.padEnd(column) + wrap(visible(value), room).join(`\n${" ".repeat(column)}`))
    .map((line) => `${line}\n`)
    .join("");
}

export function tabbedPairs(pairs: Pair[]): string {
  return pairs.map(([label, value]) => `${label}\t${visible(value)}\n`).join("");
}
