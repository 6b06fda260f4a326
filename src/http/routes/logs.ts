import * as z from "zod";
import type { LogSlice } from "../../core/gateway.ts";
import type { LogChunk, LogQuery } from "../../core/session.ts";
import type { Session } from "../../session/session.ts";
import { regularExpression, search } from "../../text/regex.ts";
import { type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import { count, flag, integer, LogAnswer, shortText } from "../schemas.ts";
import { attachment, streamResponse } from "../stream-response.ts";

/** Bytes per read of the log. */
const READ_BYTES = 1 << 20;
/** Bytes searched per request. A client continues at `next`. */
const CALL_BYTES = 32 << 20;
/** Characters of a matching line that are returned. */
const SHOWN = 400;

interface SearchQuery {
  q: string;
  /** Whether `q` is a regular expression; otherwise it is text, matched case-insensitively. */
  regex: boolean;
  stream?: LogQuery["stream"];
  /** The byte offset to start at. */
  from: number;
  limit: number;
}

export interface Match {
  /** Byte offset of the start of the line, in the requested stream. */
  offset: number;
  text: string;
}

/** Searches a bounded part of a log line by line. `next` is the offset to continue at; null at the end of the log. */
async function searchLog(session: Session, query: SearchQuery): Promise<{ matches: Match[]; next: number | null }> {
  const { stream, from, limit } = query;
  const finder = finderOf(query);
  const matches: Match[] = [];
  let at = from;
  for (let left = CALL_BYTES; left > 0; left -= READ_BYTES) {
    const slice = await session.logs({ ...(stream ? { stream } : {}), offset: at, limit: READ_BYTES });
    const isLast = slice.nextOffset >= slice.totalBytes || slice.chunks.length === 0;
    const piece = pieceOf(slice, isLast);
    for (const { after, ...match } of matchingLines(piece, finder)) {
      matches.push(match);
      if (matches.length === limit) return { matches, next: after };
    }
    if (isLast) return { matches, next: null };
    at = piece.end;
  }
  return { matches, next: at };
}

interface Piece {
  bytes: Buffer;
  /** Returns the log offset of the byte at index `place`. Log offsets include dropped bytes. */
  offsetOf(place: number): number;
  /** Offset of the next read. */
  end: number;
}

/** Returns the complete lines of a read. If a single line fills the whole read, returns that part of the line. */
function pieceOf({ chunks, nextOffset }: LogSlice, isLast: boolean): Piece {
  const all = Buffer.concat(chunks.map(({ bytes }) => bytes));
  const lastBreak = all.lastIndexOf(10);
  const bytes = isLast || lastBreak < 0 ? all : all.subarray(0, lastBreak + 1);
  const gaps: { place: number; dropped: number }[] = [];
  let place = 0;
  for (const chunk of chunks) {
    if (chunk.dropped > 0) gaps.push({ place, dropped: chunk.dropped });
    place += chunk.bytes.length;
  }
  // Counts backwards from the end of the read, whose offset is known.
  const offsetOf = (wanted: number) =>
    nextOffset - (all.length - wanted) - gaps.reduce((sum, gap) => sum + (gap.place > wanted ? gap.dropped : 0), 0);
  return { bytes, offsetOf, end: bytes.length === all.length ? nextOffset : offsetOf(bytes.length) };
}

/** Returns the index of the next match at or after `from`; -1 if there is none. */
type Finder = (text: string, from: number) => number;

function finderOf({ q, regex }: SearchQuery): (text: string) => Finder {
  if (!regex) {
    const wanted = q.toLowerCase();
    return (text) => {
      const lower = text.toLowerCase();
      // Lower-casing can change the length of the text. Indexes would be wrong then, so the exact text is searched.
      return lower.length === text.length
        ? (_, from) => lower.indexOf(wanted, from)
        : (_, from) => text.indexOf(q, from);
    };
  }
  regularExpression(q, "q");
  const pattern = new RegExp(q, "gm");
  return () => (text, from) => {
    pattern.lastIndex = from;
    return search(pattern, text)?.index ?? -1;
  };
}

/**
 * Yields the lines that match. Line breaks are located in the text and in the bytes, so that offsets are correct even
 * if the log is not valid UTF-8.
 */
function* matchingLines(
  { bytes, offsetOf }: Piece,
  finder: (text: string) => Finder,
): Generator<Match & { after: number }, void, undefined> {
  const text = bytes.toString("utf8");
  const find = finder(text);
  let [start, byteStart] = [0, 0];
  while (start < text.length) {
    const at = find(text, start);
    if (at < 0 || at >= text.length) return;
    let [end, byteEnd] = [0, 0];
    for (;;) {
      end = lineEnd(text.indexOf("\n", start), text.length);
      byteEnd = lineEnd(bytes.indexOf(10, byteStart), bytes.length);
      if (at < end) break;
      [start, byteStart] = [end, byteEnd];
    }
    const line = text.slice(start, end).replace(/\n$/, "");
    yield { offset: offsetOf(byteStart), text: shown(line, at - start), after: offsetOf(byteEnd) };
    [start, byteStart] = [end, byteEnd];
  }
}

function lineEnd(lineBreak: number, length: number): number {
  return lineBreak < 0 ? length : lineBreak + 1;
}

function shown(line: string, at: number): string {
  const start = line.length <= SHOWN ? 0 : Math.max(0, Math.min(at - SHOWN / 4, line.length - SHOWN));
  return line.slice(start, start + SHOWN).toWellFormed();
}

const MAX_BYTES = 1 << 20;
const DEFAULT_BYTES = 256 << 10;
const MAX_MATCHES = 1000;

const Stream = z.enum(["stdout", "stderr", "merged"]).describe("Stream to read (default: merged)");

export const logOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/sessions/:id/logs",
    id: "readLogs",
    summary: "Read the log of a session",
    roles: READERS_AND_AGENT,
    query: z.strictObject({
      stream: Stream.optional(),
      offset: count().optional().describe("Byte offset to start at"),
      limit: count(MAX_BYTES).optional().describe("Maximum number of bytes (default: 262144)"),
      tail: count(100_000).optional().describe("Only this many of the last lines"),
      fromLine: integer().optional().describe("First line, from 1; a negative number counts from the end"),
      toLine: integer().optional().describe("Last line, inclusive"),
      sinceMs: count().optional().describe("Only output since this time, in milliseconds since the epoch"),
    }),
    response: LogAnswer,
    handle: async ({ gateway, params, query }) => {
      const slice = await (await gateway.find(params.id ?? "")).logs({ limit: DEFAULT_BYTES, ...query });
      return logAnswer(slice);
    },
  }),
  operation({
    method: "GET",
    path: "/v1/sessions/:id/logs/raw",
    id: "downloadLogs",
    summary: "Download the log of a session",
    roles: READERS_AND_AGENT,
    query: z.strictObject({
      stream: Stream.optional(),
      offset: count().optional().describe("Byte offset to start at"),
      limit: count().optional().describe("Maximum number of bytes"),
    }),
    response: { media: "text/plain", description: "The output as written, without dropped bytes" },
    handle: async ({ gateway, params, query }) => {
      const session = await gateway.find(params.id ?? "");
      return streamResponse(bytesOf(session, query), attachment(`${session.name}.log`, "text/plain; charset=utf-8"));
    },
  }),
  operation({
    method: "GET",
    path: "/v1/sessions/:id/search",
    id: "searchLogs",
    summary: "Search the log of a session",
    roles: READERS_AND_AGENT,
    query: z.strictObject({
      q: shortText().min(1).describe("Text to find, case-insensitive"),
      regex: flag().optional().describe("Treat `q` as a regular expression"),
      stream: Stream.optional(),
      from: count().optional().describe("Byte offset to start at (default: 0)"),
      limit: count(MAX_MATCHES).optional().describe("Maximum number of matches (default: 100)"),
    }),
    response: z.object({
      matches: z
        .array(
          z.object({
            offset: z.int().describe("Byte offset of the start of the line"),
            text: z.string().describe("The line, possibly shortened"),
          }),
        )
        .describe("Matching lines"),
      next: z
        .int()
        .nullable()
        .describe("Byte offset to continue at, because a request searches at most 32 MiB; null at the end of the log"),
    }),
    handle: async ({ gateway, params, query: { from = 0, limit = 100, regex = false, ...rest } }) =>
      searchLog(await gateway.find(params.id ?? ""), { ...rest, from, limit, regex }),
  }),
];

async function* bytesOf(session: Session, query: LogQuery): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of session.read(query)) yield bytes;
}

function logAnswer({ chunks, nextOffset, totalBytes, droppedBytes, totalLines }: LogSlice) {
  const lines = totalLines === undefined ? {} : { totalLines };
  return { chunks: chunks.map(logPiece), nextOffset, totalBytes, droppedBytes, ...lines };
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns a chunk as JSON, with base64 instead of text if it is not valid UTF-8. */
export function logPiece({ stream, offset, bytes, dropped, timeMs }: LogChunk) {
  const place = { stream, offset, dropped, timeMs };
  try {
    return { ...place, text: UTF8.decode(bytes) };
  } catch {
    return { ...place, base64: Buffer.from(bytes).toString("base64") };
  }
}
