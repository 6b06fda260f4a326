import * as z from "zod";

type Json = Record<string, unknown>;

/** What every tool may answer with instead of its own result (promise 8). */
const Failure = z.object({
  type: z.string(),
  message: z.string(),
  recovery: z.array(z.object({ action: z.string(), hint: z.string() })),
});

/** What the result may be: the tool's own fields, or only why there are none. */
export function answerType(result: z.ZodObject): z.ZodType {
  return z.union([result.extend({ error: Failure.optional() }), z.looseObject({ error: Failure })]);
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
    properties: { ...rest.properties, error: toJson(Failure, "output") },
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
