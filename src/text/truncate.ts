import { Buffer } from "node:buffer";
import { counted } from "./format.ts";

/** The largest share of the kept text that may be given up to cut at a line boundary. A longer line is cut inside. */
const LINE_LOSS_MAX = 0.5;

/** Returns where the first `lines` lines before `limit` end, or the limit itself if a very long line ends there. */
function lineEnd(text: string, limit: number, lines: number): number {
  const end = afterLines(text, lines, limit);
  if (end < limit || end === text.length || text[end - 1] === "\n") return end;
  const boundary = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
  return boundary >= end * (1 - LINE_LOSS_MAX) ? boundary : end;
}

/** Returns where the last `lines` lines after `limit` begin, or the limit itself if a very long line begins there. */
function lineStart(text: string, limit: number, lines: number): number {
  const start = beforeLines(text, lines, limit);
  if (start > limit || start === 0 || text[start - 1] === "\n") return start;
  const feed = text.indexOf("\n", start);
  const boundary = feed === -1 ? text.length : feed + 1;
  return boundary - start <= (text.length - start) * LINE_LOSS_MAX ? boundary : start;
}

/** Reports whether the text has at most `lines` lines. Text after the last line feed is a line. */
function linesWithin(text: string, lines: number): boolean {
  return afterLines(text, lines, text.length) === text.length;
}

function afterLines(text: string, lines: number, limit: number): number {
  if (lines >= limit) return limit;
  let at = 0;
  for (let line = 0; line < lines && at < limit; line++) {
    const feed = text.indexOf("\n", at);
    at = feed === -1 || feed >= limit ? limit : feed + 1;
  }
  return at;
}

function beforeLines(text: string, lines: number, limit: number): number {
  if (lines <= 0) return text.length;
  if (lines >= text.length - limit) return limit;
  // A final line feed ends the last line and does not start another.
  let at = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let line = 0; line < lines; line++) {
    const feed = at === 0 ? -1 : text.lastIndexOf("\n", at - 1);
    if (feed < limit) return limit;
    at = feed;
  }
  return at + 1;
}

/** Returns the string index at which the first `bytes` of UTF-8 end; never inside a character. */
export function byteEnd(text: string, bytes: number): number {
  let left = bytes;
  let at = 0;
  while (at < text.length) {
    const size = sizeAt(text, at);
    if (size > left) break;
    left -= size;
    at += size === 4 ? 2 : 1;
  }
  return at;
}

/** Returns the string index at which the last `bytes` of UTF-8 begin; never inside a character. */
export function byteStart(text: string, bytes: number): number {
  let left = bytes;
  let at = text.length;
  while (at > 0) {
    const pair = at > 1 && isPair(text, at - 2);
    const size = pair ? 4 : sizeAt(text, at - 1);
    if (size > left) break;
    left -= size;
    at -= pair ? 2 : 1;
  }
  return at;
}

function sizeAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  // A lone surrogate is encoded as U+FFFD, which also has three bytes.
  return isPair(text, at) ? 4 : 3;
}

function isPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}

export interface TruncateOptions {
  /** The maximum number of bytes of UTF-8, including the marker. */
  maxBytes: number;
  /** The maximum number of lines, including the marker. */
  maxLines?: number;
  /** The share of the beginning in the kept text, 0 to 1; default: 0.5. */
  headShare?: number;
  /** How to read the omitted part; follows "read them with". */
  hint?: string;
  /** The string index at which bytes are already missing; the marker is put there. Default: the middle. */
  omittedAt?: number | null;
  /** The number of bytes already missing. */
  omittedBytes?: number;
}

export interface Truncated {
  text: string;
  /** The exact number of omitted bytes, including those that were already missing. */
  omittedBytes: number;
  /** The number of complete lines omitted; null when bytes were already missing, whose lines are unknown. */
  omittedLines: number | null;
}

/**
 * Returns the beginning and the end of a text, cut between lines, with a marker line in between that says how much is
 * omitted and how to read it. A line that is too long is cut between characters. The result never exceeds `maxBytes`
 * (invariant 6).
 *
 * @example
 * truncateMiddle(output, { maxBytes: 100 << 10, hint: "BashOutput" }).text;
 */
export function truncateMiddle(text: string, options: TruncateOptions): Truncated {
  const { maxBytes, maxLines = Number.MAX_SAFE_INTEGER, omittedBytes: before = 0 } = options;
  const bytes = Buffer.byteLength(text);
  const fits = bytes <= maxBytes && (maxLines >= text.length || linesWithin(text, maxLines));
  if (fits && before === 0) return { text, omittedBytes: 0, omittedLines: 0 };

  const gap = before > 0 ? (options.omittedAt ?? byteEnd(text, bytes >>> 1)) : null;
  const feeds = gap === null ? lineFeeds(text) : null;
  // Reserves space for the longest possible marker: omitting less can only remove digits.
  const widest = marker(bytes + before, feeds === null ? null : feeds + 1, options.hint);
  const withHint = Buffer.byteLength(widest) + 2 <= maxBytes;
  const room = maxBytes - Buffer.byteLength(withHint ? widest : marker(bytes + before, null)) - 2;
  const { headEnd, tailStart } =
    room >= 0 ? cut(text, gap, room, maxLines - 1, options.headShare ?? 0.5) : { headEnd: 0, tailStart: text.length };

  const head = text.slice(0, headEnd);
  const tail = text.slice(tailStart);
  const omittedBytes = bytes + before - Buffer.byteLength(head) - Buffer.byteLength(tail);
  const omittedLines = feeds === null ? null : wholeLines(head, tail, feeds, text);
  // There is no space for a marker, so only the returned counts describe the omission.
  if (room < 0) return { text: "", omittedBytes, omittedLines };
  const note = withHint ? marker(omittedBytes, omittedLines, options.hint) : marker(omittedBytes, null);
  const joined = `${head}${head === "" || head.endsWith("\n") ? "" : "\n"}${note}${tail === "" ? "" : "\n"}${tail}`;
  return { text: joined, omittedBytes, omittedLines };
}

function marker(bytes: number, lines: number | null, hint?: string): string {
  const size = counted(bytes, "byte");
  const what = lines ? `${counted(lines, "line")} (${size})` : size;
  const one = lines ? lines === 1 : bytes === 1;
  return `[… ${what} left out${hint === undefined ? "" : `; read ${one ? "it" : "them"} with ${hint}`}]`;
}

interface Cut {
  headEnd: number;
  tailStart: number;
}

/** Divides the space between head and tail. Space that one does not need goes to the other. */
function cut(text: string, gap: number | null, room: number, lines: number, headShare: number): Cut {
  const headLimit = gap ?? text.length;
  const tailLimit = gap ?? 0;
  const tailSize = gap === null ? room : Math.min(room, Buffer.byteLength(text.slice(gap)));
  const headRoom = Math.max(Math.floor(room * headShare), room - tailSize);
  const headLines = Math.floor(lines * headShare);
  const headEnd = lineEnd(text, Math.min(headLimit, byteEnd(text, headRoom)), headLines);
  const left = room - Buffer.byteLength(text.slice(0, headEnd));
  const floor = Math.max(tailLimit, headEnd);
  const tailStart = lineStart(text, Math.max(floor, byteStart(text, left)), lines - headLines);
  return { headEnd, tailStart: Math.max(floor, tailStart) };
}

/** Returns the number of lines of which nothing is kept. `feeds` is the number of line feeds in the text. */
function wholeLines(head: string, tail: string, feeds: number, text: string): number {
  const between = feeds - lineFeeds(head) - lineFeeds(tail);
  const begunBefore = head !== "" && !head.endsWith("\n");
  const unended = tail === "" && !text.endsWith("\n");
  const ended = between + (unended ? 1 : 0);
  return begunBefore && ended > 0 ? ended - 1 : ended;
}

function lineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** Returns the last `count` lines unchanged. Text after the last line feed is a line. */
export function lastLines(text: string, count: number): string {
  if (count <= 0) return "";
  // A final line feed ends the last line and does not start another.
  let at = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let line = 0; line < count; line++) {
    const feed = at === 0 ? -1 : text.lastIndexOf("\n", at - 1);
    if (feed === -1) return text;
    at = feed;
  }
  return text.slice(at + 1);
}
