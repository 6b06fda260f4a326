import { inspect } from "node:util";
import * as z from "zod";
import { nearest } from "../text/nearest.ts";
import type { ToolFailure } from "./tool.ts";

type Json = Record<string, unknown>;

/** The `error` of a result (promise 8). */
const FailureSchema = z.object({
  type: z.string(),
  message: z.string(),
  recovery: z.array(z.object({ action: z.string(), hint: z.string() })),
});

/** A tool's own fields, or only an `error`. */
export function resultType(result: z.ZodObject): z.ZodType {
  return z.union([result.extend({ error: FailureSchema.optional() }), z.looseObject({ error: FailureSchema })]);
}

export function inputSchema(input: z.ZodObject): Json {
  return toJson(input, "input");
}

/** One object with all fields, of which either the tool's own or `error` must be there: MCP wants an object at the root. */
export function outputSchema(result: z.ZodObject): Json {
  const schema = toJson(result, "output");
  const { required = [], ...rest } = schema as { required?: string[]; properties: Json };
  return {
    ...rest,
    properties: { ...rest.properties, error: toJson(FailureSchema, "output") },
    anyOf: [{ required }, { required: ["error"] }],
  };
}

/** As short as it can be: hosts put every tool's schema before the model, with each request. */
function toJson(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, override: ({ jsonSchema }) => shorten(jsonSchema, io) });
  return json;
}

function shorten(schema: Json, io: "input" | "output"): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.propertyNames) delete schema.propertyNames;
  // What comes back may grow; what is given may not be misspelt.
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
  /** Unknown parameters. */
  keys?: string[];
  /** Problems with the key of a record. */
  issues?: { message: string }[];
}

/** Beyond these the list of parameters is more helpful. */
const MAX_ISSUES = 3;
const MAX_SHOWN = 100;
/** Rewrites Zod's messages so that they follow the parameter's name. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/^Invalid input: expected (\w+), received .*$/s, "must be of type $1"],
  [/^Invalid option: expected one of (.*)$/s, "must be one of $1"],
  [/^Too big: expected \w+ to (be|have) <=?(\S+)/, "must $1 at most $2"],
  [/^Too small: expected \w+ to (be|have) >=(\S+)/, "must $1 at least $2"],
  [/^Too small: expected \w+ to be >(\S+)/, "must be more than $1"],
];

/** Says what was expected, what was received, and which parameters the tool has. */
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
    recovery: [{ action: "fix_request", hint: `${name} takes ${parameters(input)}.` }],
  };
}

function issueText({ path, message, keys, issues }: Issue, input: z.ZodObject, args: unknown): string {
  const [unknown] = keys ?? [];
  if (unknown !== undefined && path.length === 0) {
    const near = nearest(unknown.slice(0, MAX_SHOWN), Object.keys(input.shape));
    return `\`${escaped(unknown)}\` is not a parameter${near ? `; did you mean \`${near}\`?` : "."}`;
  }
  let value: unknown = args;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  const where = path.length > 0 ? `\`${escaped(path.map(String).join("."))}\`` : "The arguments";
  const wanted = PHRASES.reduce(
    (text, [pattern, words]) => text.replace(pattern, words),
    issues?.[0]?.message ?? message,
  );
  if (value === undefined && path.length > 0)
    return `${where} is required: it ${wanted.replace(/^Invalid/, "is invalid")}.`;
  return `${where} ${wanted}; received ${escaped(inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY }))}.`;
}

/** `command (required), timeout, cwd`. */
function parameters(input: z.ZodObject): string {
  const names = Object.entries(input.shape).map(([name, type]) =>
    (type as z.ZodType).safeParse(undefined).success ? name : `${name} (required)`,
  );
  return names.join(", ") || "no parameters";
}

/** Text of the caller, with control characters escaped. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1).slice(0, MAX_SHOWN);
}
