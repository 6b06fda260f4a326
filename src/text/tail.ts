import { AGGREGATED_BYTES, SUMMARY_BYTES, SUMMARY_LINES, TAIL_BYTES } from "../core/output-limits.ts";
import { byteStart } from "./byte-limit.ts";
import { lastLines } from "./last-lines.ts";
import { binaryLine, forModel, type OutputFacts } from "./model-output.ts";
import { terminalText } from "./terminal/terminal-text.ts";
import { truncateMiddle } from "./truncate.ts";

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
