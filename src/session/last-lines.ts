import type { Capture } from "../core/session.ts";
import { terminalText } from "../text/terminal/terminal-text.ts";
import { readMergedSync } from "./logs/index.ts";
import { terminalStory } from "./terminal/history.ts";

const LINES = 5;
/** Enough for the last lines unless they are very long; those are cut (promise 6). */
const TAIL_BYTES = 64 * 1024;
const LONGEST_LINE = 2000;
/** The last lines of what an ended session wrote, both streams in order. An unreadable log has none. */
export function lastLines(folder: string, capture: Capture, count: number = LINES): string[] {
  const lines = tailOf(folder, capture).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.slice(-count).map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line));
}
function tailOf(folder: string, capture: Capture): string {
  try {
    const { text, omittedAt } = readMergedSync(folder, capture, TAIL_BYTES);
    const tail = omittedAt === null ? text : text.slice(omittedAt);
    return capture === "merged" && terminalStory(folder) !== null ? terminalText(tail) : tail;
  } catch {
    // The callback itself matters more than what it quotes.
    return "";
  }
}
