import type { Screen, WaitOutcome } from "../../core/terminal.ts";
import { joined } from "../shell/text.ts";

/** The rows without the blank ones at the end, and where the cursor stands. */
export function screenText({ lines, cursor, columns, rows, alternate }: Screen): string {
  const used = lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
  const place = `cursor at row ${cursor.row + 1}, column ${cursor.column + 1}${cursor.visible ? "" : " (hidden)"}`;
  return joined([used.join("\n"), `[${columns} x ${rows}, ${place}${alternate ? ", full-screen program" : ""}]`]);
}

const REASONS: Record<WaitOutcome["reason"], string> = {
  exit: "It has ended.",
  pattern: "The pattern was found.",
  quiet: "It has gone quiet.",
  input: "It waits for input.",
  timeout: "Nothing of what was waited for has happened yet; wait again, or look with poll or screen.",
};

export function waitText(reason: WaitOutcome["reason"], output: string): string {
  return joined([output, REASONS[reason]]);
}
