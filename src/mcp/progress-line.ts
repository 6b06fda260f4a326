import { formatDuration } from "../text/duration.ts";
import { terminalText } from "../text/terminal-text.ts";
import { truncateMiddle } from "../text/truncate.ts";

const LINE_BYTES = 200;

/** How long it has been going on, and what was written last: `12s: compiling main.c`. */
export function progressLine(elapsedMs: number, lastLine: string): string {
  const elapsed = formatDuration(Math.floor(elapsedMs / 1000) * 1000);
  const line = terminalText(lastLine).trim().split("\n").at(-1) ?? "";
  return line === "" ? elapsed : `${elapsed}: ${truncateMiddle(line, { maxBytes: LINE_BYTES }).text}`;
}
