import type { LogQuery } from "../../core/session.ts";
import { findLines, lastLinesStart } from "./lines.ts";
import { type LogView, positionSince } from "./view.ts";

/** The range of positions that a query selects from a view. */
export interface Selection {
  start: number;
  end: number;
  /** Set when lines were selected by number. */
  totalLines?: number;
  /** "cut" when the start was moved to respect a limit, possibly into a character. */
  begins: "exact" | "cut";
}

function natural(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0;
}

/**
 * Resolves a query. `tail` takes precedence over line numbers, and those over `offset`; `sinceMs` narrows the result.
 */
export async function select(view: LogView, query: LogQuery, end: number, maxBytes: number): Promise<Selection> {
  const floor = query.sinceMs === undefined ? 0 : positionSince(view, query.sinceMs);
  const selection = await selectLines(view, query, end, maxBytes);
  return floor > selection.start ? { ...selection, start: floor, begins: "exact" } : selection;
}

async function selectLines(view: LogView, query: LogQuery, end: number, maxBytes: number): Promise<Selection> {
  const { tail, fromLine, toLine } = query;
  if (tail !== undefined) {
    const lines = tail === Number.POSITIVE_INFINITY ? tail : natural(tail);
    return { ...(await lastLinesStart(view, end, lines, maxBytes)), end };
  }
  if (fromLine !== undefined || toLine !== undefined) {
    return { ...(await selectRange(view, end, fromLine ?? 1, toLine ?? Number.POSITIVE_INFINITY)), begins: "exact" };
  }
  return { start: natural(query.offset ?? 0), end, begins: "exact" };
}

async function selectRange(view: LogView, end: number, fromLine: number, toLine: number) {
  if (fromLine >= 0 && toLine >= 0) return findLines(view, end, fromLine, toLine);
  const { totalLines } = await findLines(view, end, 1, 1);
  const fromStart = (line: number) => (line < 0 ? Math.max(0, totalLines + 1 + line) : line);
  return findLines(view, end, fromStart(fromLine), fromStart(toLine));
}
