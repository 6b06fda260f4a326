import type * as z from "zod";
import type { Recovery } from "../core/error.ts";
import type { Operation, Permission, Toolset } from "../core/settings.ts";

/** Tools as plain data and one function, which can be offered through MCP and the API of every model provider. */

/**
 * The name of a toolset.
 *
 * @example
 * ```ts
 * import { type ToolsetName, tools } from "sallyport";
 *
 * const names: ToolsetName[] = ["bash", "shell"];
 * console.log(tools(gateway, names).map(({ name }) => name)); // [ 'Bash', 'BashOutput', 'KillShell', 'exec', 'process' ]
 * ```
 */
export type ToolsetName = Toolset;

/**
 * Hints about a tool for an MCP host, as the MCP specification defines them. They are not guarantees.
 *
 * @example
 * ```ts
 * import { tools } from "sallyport";
 *
 * const [, bashOutput] = tools(gateway, "bash");
 * console.log(bashOutput?.annotations.readOnlyHint); // true
 * ```
 */
export interface ToolAnnotations {
  /** Whether the tool changes nothing. */
  readOnlyHint: boolean;
  /** Whether the tool may delete or overwrite data. */
  destructiveHint: boolean;
  /** Whether a repeated call with the same arguments has no further effect. */
  idempotentHint: boolean;
  /** Whether the tool may interact with external systems. */
  openWorldHint: boolean;
}

/**
 * A tool that a model can call.
 *
 * @example
 * ```ts
 * import { tools } from "sallyport";
 *
 * const offered = new Map(tools(gateway, "bash").map((tool) => [tool.name, tool]));
 * // In the agent loop, for each call that the model makes:
 * const answer = await offered.get("Bash")?.call({ command: "echo hello", description: "Print a greeting" });
 * console.log(answer?.text); // hello
 * ```
 */
export interface Tool {
  /** The name, unique within the toolset. */
  name: string;
  /** A short name for people. */
  title: string;
  /** The description for a model. */
  description: string;
  /** The JSON Schema (2020-12) of the arguments. */
  inputSchema: Record<string, unknown>;
  /** The JSON Schema (2020-12) of `ToolAnswer.structured`: a result, or an object with an `error`. */
  outputSchema: Record<string, unknown>;
  /** The zod schema of the arguments. */
  input: z.ZodType;
  /** The zod schema of `ToolAnswer.structured`. */
  output: z.ZodType;
  /** Hints for an MCP host. */
  annotations: ToolAnnotations;
  /** Metadata for clients, such as `{ category: "exec" }`. */
  meta?: Record<string, unknown>;
  /** The toolset that the tool belongs to. */
  toolset: ToolsetName;
  /** The operation that the tool performs. */
  operation: Operation;
  /** The permission of the operation when none is configured. */
  permission: Permission;
  /**
   * Calls the tool. Resolves for every outcome, including invalid arguments. Rejects only when the gateway is not
   * usable: with `GatewayClosed`, `StateUnusable` or `KeeperUnavailable`.
   */
  call(args: unknown, context?: CallContext): Promise<ToolAnswer>;
}

/**
 * Options for `Tool.call`.
 *
 * @example
 * ```ts
 * import { tools } from "sallyport";
 *
 * const [bash] = tools(gateway, "bash");
 * const answer = await bash?.call({ command: "sleep 60", description: "Wait" }, { answerWithinMs: 200 });
 * console.log(answer?.text);
 * ```
 */
export interface CallContext {
  /** Ends the command and its process tree. A command that already runs in the background is not affected. */
  signal?: AbortSignal;
  /**
   * The longest time until the call resolves, in milliseconds. An approval that takes longer is reported as pending; a
   * command that takes longer continues in the background.
   */
  answerWithinMs?: number;
  /** Called about once a second while a foreground command runs. */
  onProgress?: (progress: { elapsedMs: number; lastLine: string }) => void;
}

/**
 * The result of a tool call. Its size is limited.
 *
 * @example
 * ```ts
 * import { tools } from "sallyport";
 *
 * const [bash] = tools(gateway, "bash");
 * const answer = await bash?.call({ command: "rm -rf /", description: "Delete everything" });
 * console.log(answer?.isError); // true
 * console.log(answer?.text, answer?.structured);
 * ```
 */
export interface ToolAnswer {
  /** The result as text, for a model. */
  text: string;
  /** The result as data, for a program. It matches `outputSchema`. */
  structured: Record<string, unknown>;
  /**
   * True when the tool could not do what was requested; `structured.error` says why. A command that exits with an error
   * code is not an error of the tool.
   */
  isError: boolean;
}

/**
 * The form of `ToolAnswer.structured.error`.
 *
 * @example
 * ```ts
 * import { type ToolFailure, tools } from "sallyport";
 *
 * const [bash] = tools(gateway, "bash");
 * const answer = await bash?.call({ command: 42 });
 * const { type, message } = answer?.structured.error as ToolFailure;
 * console.log(type, message);
 * ```
 */
export interface ToolFailure {
  /** The type of the error, in the terms of the toolset's contract. */
  type: string;
  /** What failed and why. */
  message: string;
  /** Ways to recover. */
  recovery: readonly Recovery[];
}
