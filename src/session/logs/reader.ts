/**
 * The one reader of output for models. Every toolset pages, filters and truncates output with it.
 *
 * - A position is a byte position in the log. A page says which position comes after it (`next`); the caller stores that
 *   as its cursor once the answer has been built, so a failed call consumes nothing.
 * - All decisions are made on the text that the model sees: escape sequences and CRLF are processed, and a character is
 *   never split. A page ends after a line, unless the line is longer than a page or still incomplete.
 * - Bytes that are missing from the log are shown where they are missing, with their exact number.
 * - `unread` counts only what another call returns now. An incomplete line that is held back for a filter, or the first
 *   bytes of a character, are not unread.
 */

import { isUtf8 } from "node:buffer";
import type { LogSlice } from "../../core/gateway.ts";
import type { LogQuery, SessionInfo } from "../../core/session.ts";
import { counted } from "../../text/format.ts";
import { matchingLines, regularExpression } from "../../text/regex.ts";
import { escapeAt } from "../../text/terminal/escape.ts";
import { paintsScreen } from "../../text/terminal/terminal-text.ts";
import { LINE_FEED } from "./lines.ts";
import { continuationBytes } from "./pieces.ts";
import { gapMark, holeBytes, joinParts, missingBytes, type VisiblePart, visibleParts } from "./visible.ts";

/** A session whose output may be read. */
export interface OutputSource {
  info(): SessionInfo;
  logs(query: LogQuery): Promise<LogSlice>;
}

type Stream = NonNullable<LogQuery["stream"]>;

interface PageQuery {
  /** Default: both streams in the order in which they were written. */
  stream?: Stream;
  /** The position to start at. */
  offset: number;
  /** The maximum size of the text in UTF-8, including the marks of gaps. */
  maxBytes: number;
  /** The maximum number of bytes of the log, for a caller that counts bytes. The page then may end inside a line. */
  limit?: number | undefined;
  /** A regular expression. Only lines that match are in the text; the page covers the others, too. */
  filter?: string | undefined;
}

export interface Page {
  text: string;
  /** The position after the page. */
  next: number;
  /** The number of bytes after the page that another call returns now. */
  unread: number;
  /** The size of the log when the page was read. */
  total: number;
  /** The number of bytes missing from the log in the range of the page. */
  droppedBytes: number;
  /** True when the output positions the cursor on the whole screen, so that lines do not represent it. */
  paintsScreen: boolean;
}

/** Reads the page that starts at a position. With a filter, it extends to the end of the output if the matches fit. */
export async function readPage(source: OutputSource, query: PageQuery): Promise<Page> {
  const { filter, maxBytes } = query;
  if (filter === undefined) {
    const page = await fittingPage(source, query, false);
    const unread = page.isFull ? await unreadAfter(source, query.stream, page) : 0;
    return { ...page, text: joinParts(page.parts), unread };
  }
  const pattern = regularExpression(filter, "filter");
  let text = "";
  let droppedBytes = 0;
  for (let offset = query.offset; ; ) {
    const page = await fittingPage(source, { ...query, offset }, true);
    const matches = joinParts(
      page.parts.map((part) => (part.kind === "gap" ? part : { ...part, text: matchingLines(part.text, pattern) })),
    );
    const room = maxBytes - Buffer.byteLength(text);
    if (text !== "" && Buffer.byteLength(matches) > room) {
      const unread = await unreadAfter(source, query.stream, { ...page, next: offset });
      return { ...page, text, next: offset, unread, droppedBytes };
    }
    text += text === "" || text.endsWith("\n") || matches === "" ? matches : `\n${matches}`;
    droppedBytes += page.droppedBytes;
    offset = page.next;
    if (!page.isFull) return { ...page, text, unread: 0, droppedBytes };
  }
}

interface FittingPage {
  parts: VisiblePart[];
  next: number;
  /** The size of the log when the page was read. */
  total: number;
  droppedBytes: number;
  /** True when the page ends because of its size, not at the end of the output. */
  isFull: boolean;
  paintsScreen: boolean;
}

/** A limit in bytes may leave out an incomplete character of up to 3 bytes. */
const CHARACTER_REST = 3;

/** Reads as much as fits. With `wholeLines`, an incomplete line is left for later while it may still grow. */
async function fittingPage(
  source: OutputSource,
  { stream = "merged", offset, maxBytes, limit }: PageQuery,
  wholeLines: boolean,
): Promise<FittingPage> {
  const info = source.info();
  const most = Math.min(limit ?? maxBytes, maxBytes);
  let slice = await source.logs({ stream, offset, limit: most });
  // Bytes that were lost at the end of the log have no position. They are shown with the bytes before them.
  if (offset > 0 && offset >= slice.totalBytes) return nothingAt(offset, slice);
  const bytes = bytesOf(slice);
  const isLimited = bytes.length >= most - CHARACTER_REST && slice.nextOffset < slice.totalBytes;
  let keep = bytes.length;
  if (isLimited) keep = (limit === undefined && lastLineEnd(bytes)) || beforeEscape(bytes) || bytes.length;
  else if (isLive(info)) keep = wholeLines ? lastLineEnd(bytes) : beforeEscape(bytes);
  let isFull = isLimited;
  for (let kept = bytes.length; ; ) {
    if (keep === 0 && kept > 0) break;
    if (keep < kept) {
      slice = await source.logs({ stream, offset, limit: keep });
      kept = keep;
    }
    const parts = visibleParts(slice, info);
    const size = Buffer.byteLength(joinParts(parts));
    if (size <= maxBytes || keep <= CHARACTER_REST) {
      const { nextOffset: next, totalBytes: total, droppedBytes, text } = slice;
      return { parts, next, total, droppedBytes, isFull, paintsScreen: paintsScreen(text) };
    }
    // Symbols for control characters and replaced bytes are longer than what the log has.
    isFull = true;
    const start = bytes.subarray(0, Math.max(1, Math.floor((keep * maxBytes * 0.95) / size)));
    keep = lastLineEnd(start) || beforeEscape(start) || start.length;
  }
  return nothingAt(offset, slice);
}

function nothingAt(offset: number, { totalBytes: total }: LogSlice): FittingPage {
  return { parts: [], next: offset, total, droppedBytes: 0, isFull: false, paintsScreen: false };
}

/** The number of bytes that are read to find out whether there is anything to return. No escape sequence is longer. */
const PROBE_BYTES = 4096;
const ESCAPE = 0x1b;

async function unreadAfter(
  source: OutputSource,
  stream: Stream | undefined,
  { next, total }: Pick<FittingPage, "next" | "total">,
): Promise<number> {
  if (next >= total) return 0;
  const info = source.info();
  const probe = bytesOf(await source.logs({ stream: stream ?? "merged", offset: next, limit: PROBE_BYTES }));
  if ((isLive(info) ? beforeEscape(probe) : probe.length) === 0) return 0;
  return total - next - holeAhead(info, stream, next);
}

/** Returns the number of dropped bytes after a position. For two streams in order, their positions are unknown. */
function holeAhead({ streams }: SessionInfo, stream: Stream | undefined, position: number): number {
  const names = Object.keys(streams);
  const only = names.length === 1 ? streams[names[0] as keyof typeof streams] : streams[stream as keyof typeof streams];
  return only ? Math.max(0, only.droppedEnd - Math.max(only.droppedStart, position)) : 0;
}

function isLive({ status, lingering }: Pick<SessionInfo, "status" | "lingering">): boolean {
  return status === "running" || lingering;
}

function bytesOf(slice: LogSlice): Buffer {
  return Buffer.concat(slice.chunks.map((chunk) => chunk.bytes));
}

function lastLineEnd(bytes: Buffer): number {
  return bytes.lastIndexOf(LINE_FEED) + 1;
}

/** Returns the number of bytes before an escape sequence that is incomplete at the end. */
function beforeEscape(bytes: Buffer): number {
  const at = bytes.lastIndexOf(ESCAPE);
  if (at === -1 || bytes.length - at > PROBE_BYTES) return bytes.length;
  const text = bytes.toString("utf8", at);
  const sequence = escapeAt(text, 0);
  return sequence && !sequence.complete && sequence.end === text.length ? at : bytes.length;
}

/** Returns where the character begins that contains the byte at an offset of one stream. */
export async function characterStart(
  source: OutputSource,
  stream: Stream | undefined,
  offset: number,
): Promise<number> {
  const from = Math.max(0, offset - CHARACTER_REST);
  if (from === offset) return offset;
  const bytes = bytesOf(
    await source.logs({ ...(stream ? { stream } : {}), offset: from, limit: offset - from + CHARACTER_REST }),
  );
  for (let at = offset - from - 1; at >= 0; at--) {
    const length = characterLength(bytes, at);
    if (length > 0) return from + at + length > offset ? from + at : offset;
  }
  return offset;
}

/** Returns the length of the valid character at an index; 0 when there is none. */
function characterLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= CHARACTER_REST + 1 && at + length <= bytes.length; length++) {
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  }
  return 0;
}

interface EndsQuery {
  stream?: Stream;
  maxBytes: number;
  /** How to read what is left out; follows "read them with". */
  hint: string;
  /** The kind of data that is left out, for output that is not text. */
  of?: string | undefined;
}

export interface Ends {
  text: string;
  /** The number of bytes of the log that are not in the text, including dropped ones. */
  omittedBytes: number;
}

interface EndsOfLog extends Ends {
  /** The size of the log. */
  total: number;
}

/** The space for the marks between head and tail. */
const MARKS_BYTES = 600;

/**
 * Reads the whole output, or its first and last lines if it is longer than `maxBytes`. Between them, marks say how many
 * bytes can be read elsewhere and how many are gone.
 */
export async function readEnds(source: OutputSource, query: EndsQuery): Promise<EndsOfLog> {
  const { stream = "merged", maxBytes } = query;
  const whole = await fittingPage(source, { stream, offset: 0, maxBytes }, false);
  if (!whole.isFull) return { text: joinParts(whole.parts), omittedBytes: whole.droppedBytes, total: whole.total };
  const half = Math.max(1, Math.floor((maxBytes - MARKS_BYTES) / 2));
  const head = await fittingPage(source, { stream, offset: 0, maxBytes: half }, true);
  const info = source.info();
  const tail = await fittingTail(source, stream, { from: head.next, total: whole.total, maxBytes: half }, info);
  const middle = middleOf(info, stream, head, tail);
  const text = joinParts([...head.parts, ...middleMarks(middle, info, tail.diskCap, query), ...tail.parts]);
  const left = middle.before + middle.after;
  const omittedBytes = left + middle.gone + head.droppedBytes + tail.droppedBytes;
  return { text, omittedBytes, total: whole.total };
}

interface Tail {
  parts: VisiblePart[];
  start: number;
  droppedBytes: number;
  diskCap: number | null;
}

async function fittingTail(
  source: OutputSource,
  stream: Stream,
  { from, total, maxBytes }: { from: number; total: number; maxBytes: number },
  info: SessionInfo,
): Promise<Tail> {
  let start = Math.max(from, total - maxBytes);
  for (;;) {
    start = outsideHole(info, stream, start);
    // Starts one byte earlier, to find out whether the tail starts with a line.
    const before = start > from ? 1 : 0;
    const bytes = bytesOf(await source.logs({ stream, offset: start - before, limit: total - start + before }));
    const feed = before === 0 ? -1 : bytes.indexOf(LINE_FEED);
    const skip = feed >= 0 && feed < bytes.length - 1 ? feed + 1 : before + continuationBytes(bytes.subarray(before));
    start += skip - before;
    const slice = await source.logs({ stream, offset: start, limit: Math.max(0, total - start) });
    const parts = visibleParts(slice, info);
    const size = Buffer.byteLength(joinParts(parts));
    if (size <= maxBytes || start >= total) return { parts, start, ...slice };
    start += Math.max(1, Math.ceil(((total - start) * (size - maxBytes)) / size));
  }
}

/** The number of bytes between head and tail. */
interface Middle {
  /** The bytes that can be read, before and after those that are gone. */
  before: number;
  after: number;
  gone: number;
}

function middleOf(info: SessionInfo, stream: Stream, head: FittingPage, tail: Tail): Middle {
  const streams = selectedStreams(info, stream);
  const gone = Math.max(0, missingBytes(streams) - head.droppedBytes - tail.droppedBytes);
  const [only, other] = Object.values(streams);
  const within = (position: number) => Math.min(Math.max(position, head.next), tail.start);
  // The positions of the holes of two streams are unknown.
  const isKnown = only !== undefined && other === undefined;
  const inHole = isKnown ? within(only.droppedEnd) - within(only.droppedStart) : Math.min(gone, holeBytes(streams));
  const split = isKnown && inHole > 0 ? only.droppedStart : tail.start - inHole;
  const before = Math.max(0, within(split) - head.next);
  const after = Math.max(0, tail.start - head.next - before - inHole);
  return { before, after, gone };
}

/** Returns the marks for what is between head and tail, in the order of what is missing. */
function middleMarks(
  { before, after, gone }: Middle,
  { streams }: SessionInfo,
  diskCap: number | null,
  { hint, of }: EndsQuery,
): VisiblePart[] {
  const left = (bytes: number) => (bytes > 0 ? [leftOutMark(bytes, hint, of)] : []);
  const marks = gone > 0 ? [...left(before), gapMark(gone, streams, diskCap), ...left(after)] : left(before + after);
  return marks.map((text) => ({ kind: "gap", text }));
}

function leftOutMark(bytes: number, hint: string, of: string | undefined): string {
  const what = `${counted(bytes, "byte")}${of ? ` of ${of}` : ""}`;
  return `[… ${what} left out; read ${bytes === 1 ? "it" : "them"} with ${hint}]`;
}

function selectedStreams({ streams }: SessionInfo, stream: Stream): SessionInfo["streams"] {
  const only = stream === "merged" ? undefined : streams[stream];
  return only === undefined ? streams : { [stream]: only };
}

function outsideHole(info: SessionInfo, stream: Stream, position: number): number {
  const streams = Object.values(selectedStreams(info, stream));
  const [only] = streams;
  if (streams.length !== 1 || !only) return position;
  return only.droppedStart <= position && position < only.droppedEnd ? only.droppedEnd : position;
}

interface LastLinesQuery {
  stream?: Stream;
  lines: number;
  maxBytes: number;
  hint: string;
}

/** Reads the last lines. If they are longer than `maxBytes`, a mark says that the earlier ones are left out. */
export async function readLastLines(source: OutputSource, query: LastLinesQuery): Promise<string> {
  const { stream = "merged", lines, maxBytes, hint } = query;
  const info = source.info();
  const slice = await source.logs({ stream, tail: lines, limit: maxBytes });
  const text = joinParts(visibleParts(slice, info));
  const bytes = bytesOf(slice).length;
  const isLimited = bytes >= maxBytes - CHARACTER_REST && bytes < slice.nextOffset;
  if (!isLimited && Buffer.byteLength(text) <= maxBytes) return text;
  const tail = await fittingTail(
    source,
    stream,
    { from: Math.max(0, slice.nextOffset - bytes - 1), total: slice.nextOffset, maxBytes: maxBytes - MARKS_BYTES },
    info,
  );
  return joinParts([{ kind: "gap", text: `[… earlier lines left out; read them with ${hint}]` }, ...tail.parts]);
}

/** Lines of a log by number. */
export interface LogLines {
  text: string;
  /** The number of lines that are stored. */
  total: number;
  /** The index of the first line in `text`; `next` is the index of the first line after it. */
  from: number;
  next: number;
  /** The number of bytes that are missing from the log. */
  droppedBytes: number;
}

export const LINE_CUT = "[… the rest of this line is omitted: the line exceeds the size limit of a result]";

/** Reads up to `limit` lines that fit into `maxBytes`. A negative `offset` counts from the end. */
export async function readLines(
  source: OutputSource,
  { offset, limit, maxBytes }: { offset: number; limit: number; maxBytes: number },
): Promise<LogLines> {
  const info = source.info();
  const room = maxBytes - Buffer.byteLength(LINE_CUT) - 1;
  const at = offset >= 0 ? offset : Math.max(0, (await linesOf(source, 0, 1, 1)).total + offset);
  for (let lines = limit; ; ) {
    const { slice, total } = await linesOf(source, at, lines, room);
    const from = Math.min(at, total);
    const asked = Math.min(lines, total - from);
    const feeds = slice.text.split("\n").length - 1;
    const isCut = feeds < asked && bytesOf(slice).length >= room - CHARACTER_REST;
    const text = joinParts(visibleParts(slice, info));
    const size = Buffer.byteLength(text);
    if ((isCut || size > room) && asked > 1) {
      lines = isCut ? Math.max(1, feeds) : Math.max(1, Math.floor((asked * room * 0.9) / size));
      continue;
    }
    const shown = isCut || size > room ? `${cutTo(text, room)}\n${LINE_CUT}` : text;
    return { text: shown, total, from, next: from + asked, droppedBytes: missingBytes(info.streams) };
  }
}

function cutTo(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let end = Math.min(bytes.length, maxBytes);
  while (end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

async function linesOf(source: OutputSource, from: number, lines: number, limit: number) {
  const slice = await source.logs({ stream: "merged", fromLine: from + 1, toLine: from + lines, limit });
  return { slice, total: slice.totalLines ?? 0 };
}
