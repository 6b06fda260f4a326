import type { ServerResponse } from "node:http";
import { API_HEADERS } from "./guard/headers.ts";

const JSON_HEADERS = { ...API_HEADERS, "content-type": "application/json" };

/** Writes JSON to the socket directly, which is faster than creating a Response. */
export function sendJson(outgoing: ServerResponse, status: number, text: string): void {
  outgoing.writeHead(status, { ...JSON_HEADERS, "content-length": Buffer.byteLength(text) });
  outgoing.end(text);
}
