import type { IncomingMessage } from "node:http";

export type Body = { value: unknown; bytes: number } | { fault: "too large" | "not json" };

/** Many of these at once would fill the memory. */
export const LARGE_BODY_BYTES = 1 << 20;

/** One that does not say its length counts as large until it is read. */
export function mayBeLargeBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > LARGE_BODY_BYTES;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a request's body up to `maxBytes`; what is longer is refused without being held. */
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
    return { value: JSON.parse(UTF8.decode(Buffer.concat(parts))), bytes };
  } catch {
    return { fault: "not json" };
  }
}
