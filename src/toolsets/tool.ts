import type * as z from "zod";
import type { Recovery } from "../core/error.ts";
import type { Operation, Permission, Toolset } from "../core/settings.ts";

/** A tool as every model provider and MCP can offer it. Plain data and one function. */

export type ToolsetName = Toolset;

/** What a tool tells of itself, as in MCP: hints for a host, never a promise to it. */
export interface ToolAnnotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

export interface Tool {
  name: string;
  title: string;
  /** For a model: when to use it, what comes back, how to go on. */
  description: string;
  /** JSON Schema 2020-12. */
  inputSchema: Record<string, unknown>;
  /** JSON Schema 2020-12: either what the tool answers, or at least an `error`. */
  outputSchema: Record<string, unknown>;
  input: z.ZodType;
  output: z.ZodType;
  annotations: ToolAnnotations;
  /** For observers, such as `{ category: "exec" }`. */
  meta?: Record<string, unknown>;
  toolset: ToolsetName;
  /** What it does to a session, and what that needs where nothing is configured. */
  operation: Operation;
  permission: Permission;
  /**
   * Answers whatever becomes of the request, also of one that makes no sense. Rejects only when Sallyport itself cannot
   * work: its gateway is closed, its state folder or its keeper unusable.
   */
  call(args: unknown, context?: CallContext): Promise<ToolAnswer>;
}

export interface CallContext {
  /** Aborting ends the command with everything it started. What went to the background before is not touched. */
  signal?: AbortSignal;
  /** The answer comes within this time: `pending` where a person has not decided, else a command that runs on. */
  answerWithinMs?: number;
  /** Called now and then while a foreground command runs. */
  onProgress?: (progress: { elapsedMs: number; lastLine: string }) => void;
}

export interface ToolAnswer {
  /** For a model. Capped. */
  text: string;
  /** For a program; fits `outputSchema`. Capped. */
  structured: Record<string, unknown>;
  /** What was asked for did not happen; `structured.error` says why. A command's own failure is none. */
  isError: boolean;
}

/** How a failure looks within `structured`. */
export interface ToolFailure {
  type: string;
  message: string;
  recovery: readonly Recovery[];
}
