import type { IncomingMessage } from "node:http";
import { parseStrictJson } from "../../text/strict-json.ts";

export type Body = { value: unknown; bytes: number } | { fault: "too large" | "not json" };

/** Bodies above this size count as large. The number of large bodies that are read concurrently is limited. */
export const LARGE_BODY_BYTES = 1 << 20;

/** Reports whether the body may be large. A body of unknown length counts as large until it has been read. */
export function mayBeLargeBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > LARGE_BODY_BYTES;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Reads the body of a request as JSON. Rejects a body longer than `maxBytes` without buffering it. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Body> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return { fault: "too large" };
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes) return { fault: "too large" };
    parts.push(part);
  }
  try {
    return { value: parseStrictJson(UTF8.decode(Buffer.concat(parts))), bytes };
  } catch {
    return { fault: "not json" };
  }
}
