import type * as z from "zod";
import { SallyportError } from "../core/error.ts";
import type { Operation, Permission } from "../core/settings.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { cancelled, failureText, toolsetDisabled, truncateFailure } from "./failures.ts";
import { argumentFailure, inputSchema, outputSchema, resultType } from "./schema.ts";
import type { CallContext, Tool, ToolAnnotations, ToolAnswer, ToolFailure } from "./tool.ts";

/** Annotations of tools that run commands, which can do anything. */
export const RUN_ANNOTATIONS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** Annotations of read-only tools. */
export const READ_ANNOTATIONS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Annotations of tools that terminate a session. Terminating it again has no effect. */
export const KILL_ANNOTATIONS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
};

/** The context of one call, passed to a handler with its arguments. */
export interface HandlerCall {
  /** A view of the gateway that sees only the caller's agent and applies the tool's permissions. */
  gateway: Gateway;
  /** The gateway without these restrictions; the same object for every call. */
  root: Gateway;
  context: CallContext;
}

/** The result of a handler. */
export interface HandlerResult {
  structured: Record<string, unknown>;
  /** The text for the model. Default: the tool's `text`, or the text of the failure. */
  text?: string;
  /** Why the request failed. Becomes `structured.error`, translated to the names of the toolset's contract. */
  failure?: ToolFailure | null;
  /** Why the command that the result describes failed. Also becomes `structured.error`, but the call succeeded. */
  cause?: ToolFailure | null;
  /** True when `structured` is a complete result despite the failure. It then also becomes the text. */
  complete?: boolean;
}

/** The declaration of a tool in a toolset. */
export interface ToolSpec<Input extends z.ZodObject = z.ZodObject>
  extends Pick<Tool, "name" | "title" | "description" | "annotations" | "meta" | "operation"> {
  input: Input;
  output: z.ZodObject;
  /** The permission that applies when none is configured. Default: `autonomous`. */
  permission?: Permission;
  /** For a tool with several operations, the default permissions of the others. */
  permissions?: Partial<Record<Operation, Permission>>;
  /** Returns the text of a result from its fields, so that both say the same. Default: the fields as JSON. */
  text?: (structured: Record<string, unknown>) => string;
  /** Returns the fields that the contract requires even when the tool fails. `args` may be invalid. */
  failureFields?: (args: unknown, error: ToolFailure) => Record<string, unknown>;
  /** The contract's own errors for invalid arguments, by parameter name. */
  argumentFailures?: Record<string, (message: string) => ToolFailure>;
  handle(args: z.output<Input>, call: HandlerCall): Promise<HandlerResult>;
}

/** Declares a tool. The handler's arguments have the type of the input schema. */
export function tool<Input extends z.ZodObject>(spec: ToolSpec<Input>): ToolSpec {
  return spec as unknown as ToolSpec;
}

/** The tools of one published contract. */
export interface Toolset {
  name: Tool["toolset"];
  tools: readonly ToolSpec[];
  /** True when a failure has the fields of a result, and its text is written like that of a result. */
  completeFailures?: boolean;
  /** Translates a failure to the contract's error types and parameter names. */
  mapFailure: (failure: ToolFailure) => ToolFailure;
}

/** Returns a declared tool as a callable `Tool` of the gateway. */
export function bind(gateway: Gateway, toolset: Toolset, spec: ToolSpec): Tool {
  const { name, title, description, input, output, annotations, operation, permission = "autonomous" } = spec;
  return {
    name,
    title,
    description,
    inputSchema: inputSchema(input),
    outputSchema: outputSchema(output),
    input,
    output: resultType(output),
    annotations,
    ...(spec.meta ? { meta: spec.meta } : {}),
    toolset: toolset.name,
    operation,
    permission,
    call: (args, context = {}) => call(gateway, toolset, spec, args, context),
  };
}

/** Errors that mean that the gateway itself is not usable. A call rejects with them instead of returning a result. */
const UNAVAILABLE = new Set(["GatewayClosed", "StateUnusable", "KeeperUnavailable"]);

async function call(
  gateway: Gateway,
  toolset: Toolset,
  spec: ToolSpec,
  args: unknown,
  context: CallContext,
): Promise<ToolAnswer> {
  const refused = (failure: ToolFailure) => refuse(spec, toolset, failure, args);
  if (!gateway.toolsets[toolset.name]) return refused(toolsetDisabled(toolset.name));
  const parsed = spec.input.safeParse(withoutNulls(args, spec.input));
  if (!parsed.success) return refused(argumentFailure(spec, parsed.error.issues, args));
  const { signal, answerWithinMs } = context;
  const tiers = { [spec.operation]: spec.permission ?? "autonomous", ...spec.permissions };
  try {
    const scoped = gateway.scoped({
      tiers,
      ...(signal ? { signal } : {}),
      ...(answerWithinMs === undefined ? {} : { approvalTimeoutMs: answerWithinMs }),
    });
    return finish(await spec.handle(parsed.data, { gateway: scoped, root: gateway, context }), toolset, spec);
  } catch (error) {
    if (signal?.aborted && error === signal.reason) return refused(cancelled());
    if (!(error instanceof SallyportError) || UNAVAILABLE.has(error.type)) throw error;
    const failure = error.toJSON();
    return refused(toolset.mapFailure(failure));
  }
}

function finish(answer: HandlerResult, { mapFailure, completeFailures = false }: Toolset, spec: ToolSpec): ToolAnswer {
  const { structured, text, failure, cause, complete = completeFailures } = answer;
  const why = failure ?? cause;
  const error = why ? truncateFailure(mapFailure(why)) : null;
  const result = error ? { ...structured, error } : structured;
  const isError = Boolean(failure);
  if (text !== undefined) return { structured: result, text, isError };
  return {
    structured: result,
    text: error && isError && !complete ? failureText(error) : textOf(spec, result),
    isError,
  };
}

function refuse(spec: ToolSpec, { completeFailures }: Toolset, failure: ToolFailure, args: unknown): ToolAnswer {
  const error = truncateFailure(failure);
  const structured = { ...spec.failureFields?.(args, error), error };
  return { text: completeFailures ? textOf(spec, structured) : failureText(error), structured, isError: true };
}

function textOf({ text = JSON.stringify }: ToolSpec, structured: Record<string, unknown>): string {
  return text(structured);
}

/** Drops null for optional parameters: some providers send null for every parameter that the model omitted. */
function withoutNulls(args: unknown, input: z.ZodObject): unknown {
  if (args === undefined || args === null) return {};
  if (typeof args !== "object" || Array.isArray(args)) return args;
  const given = Object.entries(args).filter(([name, value]) => {
    const field = input.shape[name];
    return value !== null || field === undefined || !field.safeParse(undefined).success;
  });
  return Object.fromEntries(given);
}
