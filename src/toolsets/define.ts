import type * as z from "zod";
import { SallyportError } from "../core/error.ts";
import type { Operation, Permission } from "../core/settings.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { answerType, inputSchema, outputSchema } from "./json-schema.ts";
import { badArguments } from "./texts/bad-arguments.ts";
import { cancelled, cappedFailure, switchedOff, toolFailureText } from "./texts/failure.ts";
import type { CallContext, Tool, ToolAnswer, ToolFailure } from "./tool.ts";

/** What a tool's handler is called with besides its arguments. */
export interface Call {
  /** Of the caller's agent only, with the permissions of the toolset. */
  gateway: Gateway;
  /** The same for all calls. */
  root: Gateway;
  context: CallContext;
}

/** What a handler gives back. */
export interface Answer {
  structured: Record<string, unknown>;
  /** Where it says nothing else: the result as JSON, or what there is to say of a failure. */
  text?: string;
  /** Why what was asked for did not happen; named as the toolset does, it becomes `error`. */
  failure?: ToolFailure | null;
  /** The result is complete in spite of the failure, and is the text as well. */
  complete?: boolean;
}

/** A tool as a toolset declares it. */
export interface ToolSpec<Input extends z.ZodObject = z.ZodObject>
  extends Pick<Tool, "name" | "title" | "description" | "annotations" | "meta" | "operation"> {
  input: Input;
  output: z.ZodObject;
  /** What it needs where nothing is configured. Default: nothing. */
  permission?: Permission;
  /** Where it does more than one kind of thing: what the others need. */
  tiers?: Partial<Record<Operation, Permission>>;
  /** What its contract promises even where it fails. */
  failed?: Readonly<Record<string, unknown>>;
  /** What is told of a bad argument of this name, where the contract has its own word for it. */
  faults?: Record<string, (message: string) => ToolFailure>;
  handle(args: z.output<Input>, call: Call): Promise<Answer>;
}

/** Keeps the arguments' type from the schema to the handler. */
export function tool<Input extends z.ZodObject>(spec: ToolSpec<Input>): ToolSpec {
  return spec as unknown as ToolSpec;
}

/** What belongs to a toolset as a whole. */
export interface Toolset {
  name: Tool["toolset"];
  tools: readonly ToolSpec[];
  /** Its own words for failures. */
  rename?: (failure: ToolFailure) => ToolFailure;
}

/** From a declaration to something that can be called. */
export function bind(gateway: Gateway, toolset: Toolset, spec: ToolSpec): Tool {
  const { name, title, description, input, output, annotations, operation, permission = "autonomous" } = spec;
  return {
    name,
    title,
    description,
    inputSchema: inputSchema(input),
    outputSchema: outputSchema(output),
    input,
    output: answerType(output),
    annotations,
    ...(spec.meta ? { meta: spec.meta } : {}),
    toolset: toolset.name,
    operation,
    permission,
    call: (args, context = {}) => call(gateway, toolset, spec, args, context),
  };
}

/** These are no answers: nothing can be asked of Sallyport as long as they last. */
const BROKEN = new Set(["GatewayClosed", "StateUnusable", "KeeperUnavailable"]);

async function call(
  gateway: Gateway,
  toolset: Toolset,
  spec: ToolSpec,
  args: unknown,
  context: CallContext,
): Promise<ToolAnswer> {
  if (!gateway.toolsets[toolset.name]) return refuse(spec, switchedOff(toolset.name));
  const parsed = spec.input.safeParse(withoutNulls(args, spec.input));
  if (!parsed.success) return refuse(spec, badArguments(spec, parsed.error.issues, args));
  const { signal, patienceMs } = context;
  const tiers = { [spec.operation]: spec.permission ?? "autonomous", ...spec.tiers };
  try {
    const scoped = gateway.scoped({
      tiers,
      ...(signal ? { signal } : {}),
      ...(patienceMs === undefined ? {} : { approvalTimeoutMs: patienceMs }),
    });
    return finish(await spec.handle(parsed.data, { gateway: scoped, root: gateway, context }), toolset);
  } catch (error) {
    if (signal?.aborted && error === signal.reason) return refuse(spec, cancelled());
    if (!(error instanceof SallyportError) || BROKEN.has(error.type)) throw error;
    const failure = error.toJSON();
    return refuse(spec, toolset.rename?.(failure) ?? failure);
  }
}

function finish({ structured, text, failure, complete = false }: Answer, { rename }: Toolset): ToolAnswer {
  if (!failure) return { structured, text: text ?? JSON.stringify(structured), isError: false };
  const error = cappedFailure(rename?.(failure) ?? failure);
  const told = { ...structured, error };
  return { structured: told, text: text ?? (complete ? JSON.stringify(told) : toolFailureText(error)), isError: true };
}

function refuse({ failed }: ToolSpec, failure: ToolFailure): ToolAnswer {
  const error = cappedFailure(failure);
  return { text: toolFailureText(error), structured: { ...failed, error }, isError: true };
}

/** Some providers fill in null for every parameter that a model left out. */
function withoutNulls(args: unknown, input: z.ZodObject): unknown {
  if (args === undefined || args === null) return {};
  if (typeof args !== "object" || Array.isArray(args)) return args;
  const given = Object.entries(args).filter(([name, value]) => {
    const field = input.shape[name];
    return value !== null || field === undefined || !field.safeParse(undefined).success;
  });
  return Object.fromEntries(given);
}
