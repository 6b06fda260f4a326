import type { Screen } from "../../contract/terminal.ts";
import { MODEL_BYTES } from "../caps.ts";
import { truncateMiddle } from "../truncate.ts";

/**
 * A screen as a model should get it: its rows (after what scrolled off above, where that was asked for), and a line that
 * says what the text does not: where the cursor is, and whether a full-screen program has taken over.
 *
 * @example
 * screenForModel(await session.screen());
 */
export function screenForModel(screen: Screen, { maxBytes = MODEL_BYTES }: { maxBytes?: number } = {}): string {
  const rows = screen.lines.slice(0, lastRow(screen) + 1);
  const text = [...(screen.scrollback ?? []), ...rows].join("\n");
  const note = `\n${noteOn(screen)}`;
  // The end is what counts, and what scrolled off goes first.
  return truncateMiddle(text, { maxBytes: maxBytes - Buffer.byteLength(note), headShare: 0.2 }).text + note;
}

/** Blank rows below the cursor and the last text say nothing. */
function lastRow({ lines, cursor }: Screen): number {
  return Math.max(
    cursor.visible ? cursor.row : 0,
    lines.findLastIndex((line) => line !== ""),
  );
}

function noteOn({ columns, rows, cursor, alternate, title }: Screen): string {
  const parts = [
    `screen of ${columns} by ${rows}`,
    cursor.visible ? `cursor in row ${cursor.row + 1}, column ${cursor.column + 1}` : "cursor hidden",
    ...(alternate ? ["full-screen program"] : []),
    ...(title === "" ? [] : [`title ${JSON.stringify(title)}`]),
  ];
  return `[${parts.join(", ")}]`;
}
