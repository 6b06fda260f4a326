import * as z from "zod";
import type { LogSlice } from "../../../contract/gateway.ts";
import type { LogChunk } from "../../../contract/session.ts";
import { type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import { count, integer } from "../shapes/inputs.ts";
import { LogAnswer } from "../shapes/session.ts";

const MOST_BYTES = 1 << 20;
const DEFAULT_BYTES = 256 << 10;

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
      const slice = await gateway.session(params.id ?? "").logs({ limit: DEFAULT_BYTES, ...query });
      return logAnswer(slice);
    },
  }),
];

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
