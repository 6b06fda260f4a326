import { displayWidth, fit } from "./width.ts";

export interface Column<Row> {
  title: string;
  value(row: Row): string;
  align?: "left" | "right";
  /** Gives up space first when the table is too wide. */
  flexible?: boolean;
  /** Colours the text after it was measured. */
  style?(text: string, row: Row): string;
}

const GAP = 2;
const NARROWEST = 10;

/** Aligned columns with a title line, cut to `width` cells; values must be one visible line each. */
export function alignedTable<Row>(columns: Column<Row>[], rows: Row[], width: number): string {
  const cells = rows.map((row) => columns.map((column) => column.value(row)));
  const widths = fitWidths(columns, cells, width);
  const title = line(columns, widths, (index) => columns[index]?.title ?? "");
  const body = rows.map((row, at) => line(columns, widths, (index) => cells[at]?.[index] ?? "", row));
  return [title, ...body].map((text) => `${text}\n`).join("");
}

/** The same rows for another program: a line each, tabs between, no titles. */
export function tabbedTable<Row>(columns: Column<Row>[], rows: Row[]): string {
  return rows.map((row) => `${columns.map((column) => column.value(row)).join("\t")}\n`).join("");
}

function fitWidths<Row>(columns: Column<Row>[], cells: string[][], width: number): number[] {
  const widths = columns.map((column, index) =>
    cells.reduce((widest, row) => Math.max(widest, displayWidth(row[index] ?? "")), column.title.length),
  );
  let excess = widths.reduce((sum, each) => sum + each + GAP, -GAP) - width;
  columns.forEach((column, index) => {
    const wide = widths[index] ?? 0;
    if (!column.flexible || excess <= 0 || wide <= NARROWEST) return;
    const given = Math.min(excess, wide - NARROWEST);
    widths[index] = wide - given;
    excess -= given;
  });
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
