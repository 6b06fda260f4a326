import { Buffer } from "node:buffer";
import { AGGREGATED_BYTES, MODEL_BYTES, SUMMARY_BYTES, SUMMARY_LINES, TAIL_BYTES } from "../core/output-limits.ts";
import { binaryKind, binarySummary } from "./binary.ts";
import { terminalText } from "./terminal/terminal-text.ts";
import { byteStart, lastLines, type Truncated, type TruncateOptions, truncateMiddle } from "./truncate.ts";

/** What is known about an output beyond its text. */
export interface OutputFacts extends Pick<TruncateOptions, "hint" | "omittedAt" | "omittedBytes"> {
  /** How much the command wrote, where it is known: bytes that are not UTF-8 cannot be counted in a text any more. */
  totalBytes?: number;
}

export interface ModelText extends Truncated {
  /** The text only tells of binary data. */
  binary: boolean;
}

/**
 * A command's output as a model should get it: binary data told in a line, no escape sequences, progress bars in
 * their last state, and never longer than `maxBytes` (promise 6). What is left out is counted in the text as it
 * would be shown. The log keeps every byte.
 *
 * @example
 * forModel(result.output, { maxBytes: BASH_OUTPUT_BYTES, hint: "BashOutput" }).text;
 */
export function forModel(output: string, options: OutputFacts & Partial<TruncateOptions> = {}): ModelText {
  const { maxBytes = MODEL_BYTES, omittedBytes = 0 } = options;
  const told = binaryLine(output, options);
  if (told !== null) {
    const bytes = options.totalBytes ?? Buffer.byteLength(output) + omittedBytes;
    return { text: truncateMiddle(told, { maxBytes }).text, omittedBytes: bytes, omittedLines: null, binary: true };
  }
  const at = omittedBytes > 0 ? (options.omittedAt ?? null) : null;
  if (at === null) return { ...truncateMiddle(terminalText(output), { ...options, maxBytes }), binary: false };
  // Apart: what was on the line where the output was cut says nothing about the one where it goes on.
  const head = terminalText(output.slice(0, at));
  const cut = { ...options, maxBytes, omittedAt: head.length };
  return { ...truncateMiddle(head + terminalText(output.slice(at)), cut), binary: false };
}

/** The line that stands for binary output; null: it is text. */
function binaryLine(output: string, { totalBytes, omittedBytes = 0, hint }: OutputFacts): string | null {
  const kind = binaryKind(output);
  if (kind === null) return null;
  const bytes = totalBytes ?? (output.includes("\ufffd") ? null : Buffer.byteLength(output) + omittedBytes);
  return binarySummary(kind, bytes, hint);
}

/** A line of progress is read at a glance. */
const LINE_BYTES = 200;

/** The last line that is not blank, as a terminal would show it; its end where it is long. */
export function lastLine(output: string): string {
  const line = lastLines(terminalText(output).trimEnd(), 1);
  return line.slice(byteStart(line, LINE_BYTES));
}

/** `stdout_summary` and `stderr_summary`: the last lines; of lines too long for a model, head and tail. */
export function summary(output: string, lines: number = SUMMARY_LINES, facts: OutputFacts = {}): string {
  return truncateMiddle(lastLines(ending(output, facts), lines), { maxBytes: SUMMARY_BYTES, hint: facts.hint }).text;
}

/** `aggregated`: all that was written, its middle left out where it is too long. */
export function aggregated(output: string, facts: OutputFacts = {}): string {
  return forModel(output, { ...facts, maxBytes: AGGREGATED_BYTES }).text;
}

/** `tail`: the last of it, cut between characters, for a notification. */
export function tail(output: string, facts: OutputFacts = {}): string {
  const text = ending(output, facts);
  return text.slice(byteStart(text, TAIL_BYTES));
}

/** What was written after anything that is missing: lines before and after a gap are no neighbours. */
function ending(output: string, facts: OutputFacts): string {
  const gap = facts.omittedBytes ? (facts.omittedAt ?? output.length >>> 1) : 0;
  return binaryLine(output, facts) ?? terminalText(output.slice(gap));
}
