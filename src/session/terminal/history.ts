import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TerminalSize } from "../../core/terminal.ts";
import type { TerminalStory } from "../../executor/session-data.ts";
import { noSuchSize } from "../errors.ts";

const MOST = 1000;

export function insistOnSize({ columns, rows }: TerminalSize): void {
  const fine = [columns, rows].every((count) => Number.isInteger(count) && count >= 1 && count <= MOST);
  if (!fine) throw noSuchSize(columns, rows, MOST);
}

/** What the file `sizes` says of a session. Null: it never was to be on a terminal. */
export function terminalStory(folder: string): TerminalStory | null {
  let text: string;
  try {
    text = readFileSync(join(folder, "sizes"), "latin1");
  } catch {
    return null;
  }
  const [, step, errno] = /^pipes (\S+) (\d+)\n/.exec(text) ?? [];
  if (step !== undefined) return { failed: { step, errno: Number(errno) } };
  // A last line without its end is being written, or was cut off by a full disk.
  const lines = text.split("\n").slice(0, -1);
  const [first, ...rest] = lines.flatMap((line) => {
    const [offset, columns, rows] = line.split(" ").map(Number);
    return columns && rows && offset !== undefined ? [{ offset, columns, rows }] : [];
  });
  return first ? { sizes: [first, ...rest] } : null;
}

/** The size it has now, or had last. */
export function lastSize(story: TerminalStory | null): TerminalSize | null {
  if (story === null || "failed" in story) return null;
  const { columns, rows } = story.sizes.at(-1) ?? story.sizes[0];
  return { columns, rows };
}
