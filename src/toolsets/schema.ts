import { inspect } from "node:util";
import * as z from "zod";
import { nearest } from "../text/nearest.ts";
import { requirement } from "../text/requirement.ts";
import type { ToolFailure } from "./tool.ts";
import { toolName } from "./tool-names.ts";

type Json = Record<string, unknown>;

/** The `error` of a result (invariant 8). */
const FailureSchema = z.object({
  type: z.string(),
  message: z.string(),
  recovery: z.array(z.object({ action: z.string(), hint: z.string() })),
});

/** Returns the type of a result: all of the tool's own fields and possibly an `error`, or an `error` without them. */
export function resultType(result: z.ZodObject): z.ZodType {
  return z.union([result.extend({ error: FailureSchema.optional() }), z.looseObject({ error: FailureSchema })]);
}

export function inputSchema(input: z.ZodObject): Json {
  return toJson(input, "input");
}

/**
 * Returns one object schema that requires either the tool's own fields or `error`: MCP requires an object at the root.
 */
export function outputSchema(result: z.ZodObject): Json {
  const schema = toJson(result, "output");
  const { required = [], ...rest } = schema as { required?: string[]; properties: Json };
  return {
    ...rest,
    properties: { ...rest.properties, error: toJson(FailureSchema, "output") },
    anyOf: [{ required }, { required: ["error"] }],
  };
}

/** Returns a short JSON Schema: hosts send every tool's schema to the model with each request. */
function toJson(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, override: ({ jsonSchema }) => shorten(jsonSchema, io) });
  return json;
}

function shorten(schema: Json, io: "input" | "output"): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.propertyNames) delete schema.propertyNames;
  // Results may gain fields in later versions. Unknown input fields are errors.
  if (io === "output" && schema.additionalProperties === false) delete schema.additionalProperties;
  const [first, second] = (schema.anyOf ?? []) as Json[];
  if (second?.type === "null" && typeof first?.type === "string" && (schema.anyOf as Json[]).length === 2) {
    delete schema.anyOf;
    Object.assign(schema, { ...first, ...schema, type: [first.type, "null"] });
    if (Array.isArray(first.enum)) schema.enum = [...first.enum, null];
  }
}

interface ToolArguments {
  name: string;
  input: z.ZodObject;
  argumentFailures?: Record<string, (message: string) => ToolFailure>;
}

interface Issue {
  path: PropertyKey[];
  message: string;
  /** Names of unknown parameters. */
  keys?: string[];
  /** Issues with the key of a record. */
  issues?: { message: string }[];
}

/** The maximum number of issues in a message. Beyond it, the list of parameters in the hint is more helpful. */
const MAX_ISSUES = 3;
const MAX_SHOWN = 100;

/** Returns a failure that says what was expected, what was received, and which parameters the tool has. */
export function argumentFailure(
  { name, input, argumentFailures = {} }: ToolArguments,
  issues: Issue[],
  args: unknown,
): ToolFailure {
  const messages = issues.slice(0, MAX_ISSUES).map((issue) => issueText(issue, input, args));
  const own = argumentFailures[String(issues[0]?.path[0] ?? "")];
  if (own && messages[0] !== undefined) return own(messages[0]);
  return {
    type: "InvalidRequest",
    message: messages.join(" "),
    recovery: [{ action: "fix_request", hint: `The parameters of ${toolName(name)} are ${parameters(input)}.` }],
  };
}

function issueText({ path, message, keys, issues }: Issue, input: z.ZodObject, args: unknown): string {
  const [unknown] = keys ?? [];
  if (unknown !== undefined && path.length === 0) {
    const near = ownName(unknown.slice(0, MAX_SHOWN), Object.keys(input.shape));
    return `\`${escaped(unknown)}\` is not a parameter${near ? `; did you mean \`${near}\`?` : "."}`;
  }
  let value: unknown = args;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  const where = path.length > 0 ? `\`${escaped(path.map(String).join("."))}\`` : "The arguments";
  const wanted = requirement(issues?.[0]?.message ?? message);
  if (value === undefined && path.length > 0) return `${where} is required and ${wanted}.`;
  return `${where} ${wanted}; received ${escaped(inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY }))}.`;
}

/** Names that other tools use for the same parameter. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["command", "cmd", "script"],
  ["cwd", "workdir", "working_directory", "workingDirectory", "working_dir", "dir", "directory"],
  ["env", "environment", "env_vars"],
  ["background", "run_in_background", "is_background", "detach"],
  ["session_id", "shell_id", "process_id", "pid", "id", "bash_id", "sessionId"],
  ["data", "input", "text", "stdin", "chars"],
  ["filter", "pattern", "regex"],
  ["description", "intent", "reason", "purpose"],
  ["pty", "tty", "terminal"],
  ["limit", "lines", "max_lines", "tail"],
  ["columns", "cols", "width"],
  ["rows", "height"],
];

/** Returns the parameter that the caller of another name probably means. */
function ownName(name: string, own: readonly string[]): string | null {
  const [known] = SYNONYMS.filter((group) => group.includes(name)).flatMap((group) =>
    own.filter((each) => group.includes(each)),
  );
  return known ?? nearest(name, own);
}

/** Returns the parameters as a list: `command (required), timeout, cwd`. */
function parameters(input: z.ZodObject): string {
  const names = Object.entries(input.shape).map(([name, type]) =>
    (type as z.ZodType).safeParse(undefined).success ? name : `${name} (required)`,
  );
  return names.join(", ") || "no parameters";
}

/** Returns text from the caller, truncated and with control characters escaped. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1).slice(0, MAX_SHOWN);
}

/** The longest `wait` of a tool in seconds. */
const MAX_WAIT = 600;

/** The parameter of tools that report on a session and can wait, so that a client does not have to poll. */
export function waitSeconds(event: string) {
  return z
    .number()
    .min(0)
    .max(MAX_WAIT)
    .default(0)
    .describe(`Seconds to wait for ${event}; default 0. The call may answer earlier, with the command still running`);
}
