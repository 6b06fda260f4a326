import * as z from "zod";
import type { LogSlice } from "../../core/gateway.ts";
import type { LogChunk, LogQuery } from "../../core/session.ts";
import type { Session } from "../../session/session.ts";
import { regularExpression, search } from "../../text/regex.ts";
import { type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import { count, flag, integer, LogAnswer, shortText } from "../schemas.ts";
import { attachment, streamResponse } from "../stream-response.ts";

/** Of one read, and of all reads of one call: whoever looks through more goes on where it ended. */
const READ_BYTES = 1 << 20;
const CALL_BYTES = 32 << 20;
/** Of the line that is shown. */
const SHOWN = 400;

interface SearchQuery {
  q: string;
  /** `q` is a regular expression; otherwise a text, upper and lower case alike. */
  regex: boolean;
  stream?: LogQuery["stream"];
  /** The offset to begin at. */
  from: number;
  limit: number;
}

export interface Match {
  /** Where its line begins, as offsets count in what was asked for. */
  offset: number;
  text: string;
}

/** Looks for a text line by line, within bounds. `next` is where to go on; null: that was all there is so far. */
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
  /** The offset of the byte at this place: what was dropped counts. */
  offsetOf(place: number): number;
  /** Where the next read begins. */
  end: number;
}

/** What was read up to its last whole line; a line that fills it all by itself is taken as it is. */
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
  // From the end: that offset is known, whatever lies before it.
  const offsetOf = (wanted: number) =>
    nextOffset - (all.length - wanted) - gaps.reduce((sum, gap) => sum + (gap.place > wanted ? gap.dropped : 0), 0);
  return { bytes, offsetOf, end: bytes.length === all.length ? nextOffset : offsetOf(bytes.length) };
}

/** From where on, to where the next match stands; -1: nowhere. */
type Finder = (text: string, from: number) => number;

function finderOf({ q, regex }: SearchQuery): (text: string) => Finder {
  if (!regex) {
    const wanted = q.toLowerCase();
    return (text) => {
      const lower = text.toLowerCase();
      // Where lower case is longer, places would not fit: then the exact text is looked for.
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

/** A line break is the same byte in every text, so lines are counted in both: what is no UTF-8 moves nothing. */
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

const Stream = z.enum(["stdout", "stderr", "merged"]);

export const logOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/sessions/:id/logs",
    id: "readLogs",
    summary: "A piece of what a session wrote, by offset or by lines",
    roles: READERS_AND_AGENT,
    query: z.strictObject({
      stream: Stream.optional(),
      offset: count().optional(),
      limit: count(MAX_BYTES).optional(),
      tail: count(100_000).optional(),
      fromLine: integer().optional(),
      toLine: integer().optional(),
      sinceMs: count().optional(),
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
    summary: "What a session wrote, byte for byte",
    roles: READERS_AND_AGENT,
    query: z.strictObject({ stream: Stream.optional(), offset: count().optional(), limit: count().optional() }),
    response: { media: "text/plain", description: "The bytes as they were written; what was dropped is left out" },
    handle: async ({ gateway, params, query }) => {
      const session = await gateway.find(params.id ?? "");
      return streamResponse(bytesOf(session, query), attachment(`${session.name}.log`, "text/plain; charset=utf-8"));
    },
  }),
  operation({
    method: "GET",
    path: "/v1/sessions/:id/search",
    id: "searchLogs",
    summary: "Where a text stands in what a session wrote; looks through so much at a time and says where to go on",
    roles: READERS_AND_AGENT,
    query: z.strictObject({
      q: shortText().min(1),
      regex: flag().optional(),
      stream: Stream.optional(),
      from: count().optional(),
      limit: count(MAX_MATCHES).optional(),
    }),
    response: z.object({
      matches: z.array(z.object({ offset: z.int(), text: z.string() })),
      next: z.int().nullable().describe("Where to go on; null: that was all there is so far"),
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

/** A chunk as JSON: its text, or its bytes where they are none. */
export function logPiece({ stream, offset, bytes, dropped, timeMs }: LogChunk) {
  const place = { stream, offset, dropped, timeMs };
  try {
    return { ...place, text: UTF8.decode(bytes) };
  } catch {
    return { ...place, base64: Buffer.from(bytes).toString("base64") };
  }
}
