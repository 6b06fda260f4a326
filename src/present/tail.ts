import { byteStart } from "./byte-limit.ts";
import { AGGREGATED_BYTES, SUMMARY_BYTES, SUMMARY_LINES, TAIL_BYTES } from "./caps.ts";
import { truncateMiddle } from "./truncate.ts";

/** The last `count` lines, each as it is. What follows the last line feed is a line too. */
export function lastLines(text: string, count: number): string {
  if (count <= 0) return "";
  // The line feed that ends the last line does not begin another.
  let at = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let line = 0; line < count; line++) {
    const feed = at === 0 ? -1 : text.lastIndexOf("\n", at - 1);
    if (feed === -1) return text;
    at = feed;
  }
  return text.slice(at + 1);
}

/** `stdout_summary` and `stderr_summary`: the last lines; of lines too long for a model, head and tail. */
export function summary(text: string, lines: number = SUMMARY_LINES, hint?: string): string {
  return truncateMiddle(lastLines(text, lines), { maxBytes: SUMMARY_BYTES, hint }).text;
}

/** `aggregated`: all that was written, its middle left out where it is too long. */
export function aggregated(text: string, hint?: string): string {
  return truncateMiddle(text, { maxBytes: AGGREGATED_BYTES, hint }).text;
}

/** `tail`: the last of it, cut between characters, for a notification. */
export function tail(text: string, bytes: number = TAIL_BYTES): string {
  return text.slice(byteStart(text, bytes));
}
