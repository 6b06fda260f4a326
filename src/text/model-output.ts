import { Buffer } from "node:buffer";
import { AGGREGATED_BYTES, MODEL_BYTES, SUMMARY_BYTES, SUMMARY_LINES, TAIL_BYTES } from "../core/output-limits.ts";
import { binaryKind, binarySummary } from "./binary.ts";
import { terminalText } from "./terminal/terminal-text.ts";
import { byteStart, lastLines, type Truncated, type TruncateOptions, truncateMiddle } from "./truncate.ts";

/** Facts about an output in addition to its text. */
export interface OutputFacts extends Pick<TruncateOptions, "hint" | "omittedAt" | "omittedBytes"> {
  /** The number of bytes the command wrote, if known. It cannot be derived from a text with invalid UTF-8. */
  totalBytes?: number;
}

export interface ModelText extends Truncated {
  /** True when the text is a summary of binary data. */
  binary: boolean;
}

/**
 * Converts a command's output for a model: binary data is summarized in one line, escape sequences are removed,
 * progress bars are shown in their last state, and the text is at most `maxBytes` long (invariant 6). Omitted bytes are
 * counted in the converted text. The log keeps every byte.
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
  // The two parts are converted separately, because the cursor position after the cut is unknown.
  const head = terminalText(output.slice(0, at));
  const cut = { ...options, maxBytes, omittedAt: head.length };
  return { ...truncateMiddle(head + terminalText(output.slice(at)), cut), binary: false };
}

/** Returns the line that replaces binary output; null for text. */
function binaryLine(output: string, { totalBytes, omittedBytes = 0, hint }: OutputFacts): string | null {
  const kind = binaryKind(output);
  if (kind === null) return null;
  const bytes = totalBytes ?? (output.includes("\ufffd") ? null : Buffer.byteLength(output) + omittedBytes);
  return binarySummary(kind, bytes, hint);
}

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
export function summary(output: string, lines: number = SUMMARY_LINES, facts: OutputFacts = {}): string {
  return truncateMiddle(lastLines(ending(output, facts), lines), { maxBytes: SUMMARY_BYTES, hint: facts.hint }).text;
}

/** Returns the whole output for `aggregated`, without its middle if it is too long. */
export function aggregated(output: string, facts: OutputFacts = {}): string {
  return forModel(output, { ...facts, maxBytes: AGGREGATED_BYTES }).text;
}

/** Returns the end of the output, cut between characters, for `tail` in a notification. */
export function tail(output: string, facts: OutputFacts = {}): string {
  const text = ending(output, facts);
  return text.slice(byteStart(text, TAIL_BYTES));
}

/**
 * Returns the part of the output after the omitted bytes, because the lines before and after the gap are not adjacent.
 */
function ending(output: string, facts: OutputFacts): string {
  const gap = facts.omittedBytes ? (facts.omittedAt ?? output.length >>> 1) : 0;
  return binaryLine(output, facts) ?? terminalText(output.slice(gap));
}
