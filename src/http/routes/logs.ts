import * as z from "zod";
import type { LogSlice } from "../../core/gateway.ts";
import type { LogChunk, LogQuery } from "../../core/session.ts";
import type { Session } from "../../session/session.ts";
import { type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import { searchLog } from "../search.ts";
import { count, flag, integer, words } from "../shapes/inputs.ts";
import { LogAnswer } from "../shapes/session.ts";
import { attachment, streamed } from "../stream.ts";

const MOST_BYTES = 1 << 20;
const DEFAULT_BYTES = 256 << 10;
const MOST_MATCHES = 1000;

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
      limit: count(MOST_BYTES).optional(),
      tail: count(100_000).optional(),
      fromLine: integer().optional(),
      toLine: integer().optional(),
      sinceMs: count().optional(),
    }),
    answer: LogAnswer,
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
    answer: { media: "text/plain", description: "The bytes as they were written; what was dropped is left out" },
    handle: async ({ gateway, params, query }) => {
      const session = await gateway.find(params.id ?? "");
      return streamed(bytesOf(session, query), attachment(`${session.name}.log`, "text/plain; charset=utf-8"));
    },
  }),
  operation({
    method: "GET",
    path: "/v1/sessions/:id/search",
    id: "searchLogs",
    summary: "Where a text stands in what a session wrote; looks through so much at a time and says where to go on",
    roles: READERS_AND_AGENT,
    query: z.strictObject({
      q: words().min(1),
      regex: flag().optional(),
      stream: Stream.optional(),
      from: count().optional(),
      limit: count(MOST_MATCHES).optional(),
    }),
    answer: z.object({
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
