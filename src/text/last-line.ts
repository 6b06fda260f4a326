import { byteStart } from "./byte-limit.ts";
import { lastLines } from "./last-lines.ts";
import { terminalText } from "./terminal/terminal-text.ts";

/** A line of progress is read at a glance. */
const LINE_BYTES = 200;

/** The last line that is not blank, as a terminal would show it; its end where it is long. */
export function lastLine(output: string): string {
  const line = lastLines(terminalText(output).trimEnd(), 1);
  return line.slice(byteStart(line, LINE_BYTES));
}
