import type { ServerResponse } from "node:http";

/** An answer that no protocol handler gives: the request did not get that far. */
export function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  { code = -32000, headers = {} }: { code?: number; headers?: Record<string, string> } = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body);
}
