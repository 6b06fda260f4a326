import { Buffer } from "node:buffer";
import { MODEL_BYTES } from "../core/output-limits.ts";
import { binaryKind, binarySummary } from "./binary.ts";
import { terminalText } from "./terminal/terminal-text.ts";
import { type Truncated, type TruncateOptions, truncateMiddle } from "./truncate.ts";

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
export function binaryLine(output: string, { totalBytes, omittedBytes = 0, hint }: OutputFacts): string | null {
  const kind = binaryKind(output);
  if (kind === null) return null;
  const bytes = totalBytes ?? (output.includes("\ufffd") ? null : Buffer.byteLength(output) + omittedBytes);
  return binarySummary(kind, bytes, hint);
}
