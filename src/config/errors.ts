import type * as z from "zod";
import { SallyportError } from "../core/error.ts";
import { operatorStep } from "../core/next-step.ts";
import { nearest } from "../text/nearest.ts";
import type { JsonDocument, Position } from "./json.ts";

/** Returns an `InvalidConfiguration` error that names the file, the position, the key and the problem. */
export function configError(file: string, message: string, position?: Position, key?: string): SallyportError {
  const where = position ? `${file}:${position.line}:${position.column}` : file;
  return new SallyportError(
    "InvalidConfiguration",
    `${where}: ${message}`,
    [
      operatorStep(
        "fix_configuration",
        "Correct the configuration. docs/configuration.md and the JSON Schema list every key.",
      ),
    ],
    { file, ...position, ...(key === undefined ? {} : { key }) },
  );
}

type Issue = z.core.$ZodIssue;

/** Returns an error for the first issue that the schema found in a file. */
export function schemaError(
  file: string,
  document: JsonDocument,
  issues: readonly Issue[],
  schema: z.ZodType,
): SallyportError {
  const [issue] = issues;
  if (!issue) return configError(file, "the configuration is not valid.");
  if (issue.code === "unrecognized_keys") return unknownKey(file, document, issue, schema);
  const key = keyPath(issue.path);
  const value = issue.path.reduce<unknown>((at, step) => (at as Record<PropertyKey, unknown>)?.[step], document.value);
  const received = value === undefined ? "" : `; received ${(JSON.stringify(value) ?? "").slice(0, 80)}`;
  const message = `${key ? `\`${key}\`` : "the file"} ${expected(issue)}${received}.`;
  return configError(file, message, document.positionOf(issue.path), key);
}

function unknownKey(
  file: string,
  document: JsonDocument,
  issue: Extract<Issue, { code: "unrecognized_keys" }>,
  schema: z.ZodType,
): SallyportError {
  const name = issue.keys[0] ?? "";
  const path = [...issue.path, name];
  const known = keysAt(schema, issue.path);
  const near = nearest(name, known);
  const hint = near ? `did you mean \`${near}\`?` : `the allowed keys are ${known.join(", ")}.`;
  const message = `\`${keyPath(path)}\` is not a known key; ${hint}`;
  return configError(file, message, document.positionOf(path), keyPath(path));
}

/** Returns the path as it is written in messages, such as `allowlist[0].pattern`. */
export function keyPath(path: readonly PropertyKey[]): string {
  return path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : `${index > 0 ? "." : ""}${String(step)}`))
    .join("");
}

const KINDS: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object",
};

function expected(issue: Issue): string {
  if (issue.code === "invalid_type") return `must be ${KINDS[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value")
    return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
  if (issue.code === "too_small") {
    if (issue.origin === "string" || issue.origin === "array") return "must not be empty";
    return `must be ${issue.inclusive === false ? "greater than" : "at least"} ${issue.minimum}`;
  }
  if (issue.code === "too_big") {
    const unit = issue.origin === "string" ? " characters" : issue.origin === "array" ? " entries" : "";
    return `must be at most ${issue.maximum}${unit}`;
  }
  if (issue.code === "invalid_union") return "must be a string or an array of strings";
  if (issue.code === "invalid_key") return issue.issues[0]?.message ?? "is not a valid name";
  if (issue.code === "invalid_format" && issue.format === "url") return "must be an `http` or `https` URL";
  return issue.message;
}

/** Returns the keys that the schema allows in the object at this path. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: z.core.$ZodType | undefined = bare(schema);
  for (const step of path) {
    const def = at?._zod.def as {
      shape?: Record<string, z.core.$ZodType>;
      element?: z.core.$ZodType;
      valueType?: z.core.$ZodType;
    };
    at = bare(def.shape?.[String(step)] ?? def.element ?? def.valueType);
  }
  return Object.keys((at?._zod.def as { shape?: object } | undefined)?.shape ?? {});
}

function bare(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  const def = schema?._zod.def as { innerType?: z.core.$ZodType } | undefined;
  return def?.innerType ? bare(def.innerType) : schema;
}
