import { Buffer } from "node:buffer";
import { counted } from "./format.ts";

/** Back to a line's beginning costs at most this share of what could be kept; a longer line is cut inside. */
const LINE_LOSS_MAX = 0.5;

/** Where the first `lines` lines before `limit` end; the limit itself where a giant line would cost too much. */
function lineEnd(text: string, limit: number, lines: number): number {
  const end = afterLines(text, lines, limit);
  if (end < limit || end === text.length || text[end - 1] === "\n") return end;
  const boundary = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
  return boundary >= end * (1 - LINE_LOSS_MAX) ? boundary : end;
}

/** Where the last `lines` lines from `limit` on begin; the limit itself where a giant line would cost too much. */
function lineStart(text: string, limit: number, lines: number): number {
  const start = beforeLines(text, lines, limit);
  if (start > limit || start === 0 || text[start - 1] === "\n") return start;
  const feed = text.indexOf("\n", start);
  const boundary = feed === -1 ? text.length : feed + 1;
  return boundary - start <= (text.length - start) * LINE_LOSS_MAX ? boundary : start;
}

/** Whether there are at most so many. What follows the last line feed is a line too. */
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
  // The line feed that ends the last line does not begin another.
  let at = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let line = 0; line < lines; line++) {
    const feed = at === 0 ? -1 : text.lastIndexOf("\n", at - 1);
    if (feed < limit) return limit;
    at = feed;
  }
  return at + 1;
}

/** The string index where the first `bytes` of UTF-8 end; never inside a character. */
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

/** The string index where the last `bytes` of UTF-8 begin; never inside a character. */
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
  // Half a pair alone is encoded as U+FFFD, three bytes like any other.
  return isPair(text, at) ? 4 : 3;
}

function isPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}

export interface TruncateOptions {
  /** Of UTF-8, the marker included. */
  maxBytes: number;
  /** The marker's line included. */
  maxLines?: number;
  /** How much of the room goes to the beginning, 0 to 1; the end gets the rest. Default 0.5. */
  headShare?: number;
  /** How to read what is left out, to follow "read them with". */
  hint?: string;
  /** A string index where bytes are missing from the text already, and the marker goes; half way when not known. */
  omittedAt?: number | null;
  /** How many those are. */
  omittedBytes?: number;
}

export interface Truncated {
  text: string;
  /** Exact, those that were missing before included. */
  omittedBytes: number;
  /** Whole lines left out; null when bytes were missing before, of which nobody counted the lines. */
  omittedLines: number | null;
}

/**
 * The beginning and the end of a text, cut between lines, with a line in the middle that says how much is left out
 * and how to read it. A line too long to be kept whole is cut between characters. Never longer than `maxBytes`
 * (promise 6).
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
  // Reserved for the longest the marker can get: leaving out less only takes digits away.
  const widest = marker(bytes + before, feeds === null ? null : feeds + 1, options.hint);
  const withHint = Buffer.byteLength(widest) + 2 <= maxBytes;
  const room = maxBytes - Buffer.byteLength(withHint ? widest : marker(bytes + before, null)) - 2;
  const { headEnd, tailStart } =
    room >= 0 ? cut(text, gap, room, maxLines - 1, options.headShare ?? 0.5) : { headEnd: 0, tailStart: text.length };

  const head = text.slice(0, headEnd);
  const tail = text.slice(tailStart);
  const omittedBytes = bytes + before - Buffer.byteLength(head) - Buffer.byteLength(tail);
  const omittedLines = feeds === null ? null : wholeLines(head, tail, feeds, text);
  // No room for any words: what is left out can only be told to the caller.
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

/** What one end leaves unused of its share goes to the other. */
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

/** Lines of which nothing at all is kept, of a text with so many line feeds. */
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
