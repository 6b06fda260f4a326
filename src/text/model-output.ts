import { SUMMARY_BYTES, SUMMARY_LINES, TAIL_BYTES } from "../text/output-limits.ts";
import { terminalText } from "./terminal/terminal-text.ts";
import { byteStart, lastLines, truncateMiddle } from "./truncate.ts";

/** The limit of a line that shows progress. */
const LINE_BYTES = 200;

/** Returns the last line that is not blank, as a terminal shows it; only its end if it is long. */
export function lastLine(output: string): string {
  const line = lastLines(terminalText(output).trimEnd(), 1);
  return line.slice(byteStart(line, LINE_BYTES));
}

/**
 * Returns the last lines, for `stdout_summary` and `stderr_summary`; head and tail if they are too long for a model.
 */
export function summary(
  output: string,
  lines: number = SUMMARY_LINES,
  { maxBytes = SUMMARY_BYTES, hint }: { maxBytes?: number; hint?: string } = {},
): string {
  return truncateMiddle(lastLines(terminalText(output), lines), { maxBytes, ...(hint ? { hint } : {}) }).text;
}

/** How much of the end of an output is converted for `tail`. Most of it may be escape sequences. */
const TAIL_SOURCE_LENGTH = 32 * TAIL_BYTES;

/** Returns the end of the output, cut between characters, for `tail` in a notification. */
export function tail(output: string): string {
  const text = terminalText(output.slice(-TAIL_SOURCE_LENGTH));
  return text.slice(byteStart(text, TAIL_BYTES));
}
