import type { Failure } from "../text/error-text.ts";
import { NAME_LENGTH } from "../text/output-limits.ts";

/** Maximum size of a message, over either transport. It leaves room for 8 MiB of stdin in JSON encoding. */
export const MAX_MESSAGE_BYTES = 16 << 20;

/** An error for input that is not a valid message. */
export interface MessageError {
  /** JSON-RPC error code. */
  code: -32700 | -32600;
  message: string;
  id: string | number | null;
}

export function errorResponse({ code, message, id }: MessageError) {
  const head = code === -32700 ? "Parse error" : "Invalid Request";
  return { jsonrpc: "2.0", id, error: { code, message: `${head}: ${message}` } } as const;
}

export function unknownTool(name: string): string {
  return `Unknown tool ${JSON.stringify(name.slice(0, NAME_LENGTH))}. Call tools/list for the available tools.`;
}

export function resourceNotFoundText(uri: string): string {
  return `Unknown resource ${JSON.stringify(uri.slice(0, NAME_LENGTH))}. Call resources/list for the available ones.`;
}

export function unexpected(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const hint = "This is a bug in Sallyport. Report it to the user.";
  return { type: "Unexpected", message, recovery: [{ action: "report", hint }] };
}
