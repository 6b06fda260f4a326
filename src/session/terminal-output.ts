import { RESULT_BYTES } from "../core/output-limits.ts";
import type { RunResult } from "../core/result.ts";
import { terminalText } from "../text/terminal/terminal-text.ts";
import { truncateMiddle } from "../text/truncate.ts";
import { readTextSync } from "./logs/index.ts";
import { terminalStory } from "./terminal/history.ts";

/** Sequences that put text anywhere on the screen, or take all of it over: what they leave is a picture, not lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const PAINTING = /\x1b\[(?:[\d;]*[HLMSTdfr]|\?(?:47|1047|1049)h)/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const CLEARED_FIRST = /^\x1b\[H\x1b\[2?J(?:\x1b\[3J)?/;

/**
 * What a command that ran on a terminal answers with: text, not the bytes that drew it. Of a program that wrote lines,
 * these lines as they ended up; of one that painted the screen, what was on it last and what had scrolled off. The log
 * keeps every byte. Null: it was not on a terminal.
 */
export async function terminalOutput(folder: string): Promise<Pick<RunResult, "stdout" | "output"> | null> {
  const story = terminalStory(folder);
  if (story === null || "failed" in story) return null;
  const { text, omittedAt } = readTextSync(folder, "output", RESULT_BYTES);
  const output = PAINTING.test(text.replace(CLEARED_FIRST, "")) ? await painted(folder) : written(text, omittedAt);
  return { stdout: output, output };
}

/** Apart, where the middle is missing: what was on the line where it was cut says nothing about where it goes on. */
function written(text: string, omittedAt: number | null): string {
  if (omittedAt === null) return terminalText(text);
  return terminalText(text.slice(0, omittedAt)) + terminalText(text.slice(omittedAt));
}

async function painted(folder: string): Promise<string> {
  const { LogTerminal } = await import("./terminal/log-terminal.ts");
  const terminal = await LogTerminal.open(folder);
  try {
    const text = terminal.text();
    return text === "" ? "" : truncateMiddle(`${text}\n`, { maxBytes: RESULT_BYTES }).text;
  } finally {
    terminal.close();
  }
}
