import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TerminalSize } from "../../core/terminal.ts";
import type { TerminalHistory } from "../../executor/session-data.ts";
import { invalidSize } from "../errors.ts";

const MOST_CELLS = 1000;

export function assertSize({ columns, rows }: TerminalSize): void {
  const fine = [columns, rows].every((count) => Number.isInteger(count) && count >= 1 && count <= MOST_CELLS);
  if (!fine) throw invalidSize(columns, rows, MOST_CELLS);
}

/** Reads the session's `sizes` file. Null when no terminal was requested. */
export function readTerminalHistory(folder: string): TerminalHistory | null {
  let text: string;
  try {
    text = readFileSync(join(folder, "sizes"), "latin1");
  } catch {
    return null;
  }
  const [, step, errno] = /^pipes (\S+) (\d+)\n/.exec(text) ?? [];
  if (step !== undefined) return { failed: { step, errno: Number(errno) } };
  // An incomplete last line is still being written, or was cut off by a full disk.
  const lines = text.split("\n").slice(0, -1);
  const [first, ...rest] = lines.flatMap((line) => {
    const [offset, columns, rows] = line.split(" ").map(Number);
    return columns && rows && offset !== undefined ? [{ offset, columns, rows }] : [];
  });
  return first ? { sizes: [first, ...rest] } : null;
}

/** Returns the current or last size of the terminal. */
export function lastSize(history: TerminalHistory | null): TerminalSize | null {
  if (history === null || "failed" in history) return null;
  const { columns, rows } = history.sizes.at(-1) ?? history.sizes[0];
  return { columns, rows };
}
