import { NAME_LENGTH } from "../core/output-limits.ts";
import type { Failure } from "../text/error-text.ts";

/** Of one message, over either transport. A request may bring 8 MiB of stdin, and JSON makes them longer. */
export const MAX_MESSAGE_BYTES = 16 << 20;

/** What was wrong with something that is no message. */
export interface MessageError {
  /** As JSON-RPC numbers them. */
  code: -32700 | -32600;
  message: string;
  id: string | number | null;
}

export function errorResponse({ code, message, id }: MessageError) {
  const head = code === -32700 ? "Parse error" : "Invalid Request";
  return { jsonrpc: "2.0", id, error: { code, message: `${head}: ${message}` } } as const;
}

export function unknownTool(name: string): string {
  return `There is no tool ${JSON.stringify(name.slice(0, NAME_LENGTH))}; tools/list names those there are.`;
}

export function resourceNotFoundText(uri: string): string {
  return `There is no resource ${JSON.stringify(uri.slice(0, NAME_LENGTH))}; resources/list names those there are.`;
}

export function unexpected(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const hint = "This should not happen. The server's stderr may tell more; start it with SALLYPORT_DEBUG=1.";
  return { type: "Unexpected", message, recovery: [{ action: "report", hint }] };
}
