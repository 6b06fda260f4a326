import type { CallToolResult } from "@modelcontextprotocol/server";
import { SallyportError } from "../core/error.ts";
import { failureText } from "../text/error-text.ts";
import type { ToolAnswer } from "../toolsets/tool.ts";
import { unexpected } from "./messages.ts";

/** Text for a model, the same as data for a program. */
export function toolResult({ text, structured, isError }: ToolAnswer): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: structured, ...(isError ? { isError } : {}) };
}

/** Sallyport itself could not work. That, too, is an answer with a type and a way out (promise 8). */
export function failedResult(error: unknown): CallToolResult {
  const failure = error instanceof SallyportError ? error.toJSON() : unexpected(error);
  return toolResult({ text: failureText(failure), structured: { error: failure }, isError: true });
}
