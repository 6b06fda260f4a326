import { inspect } from "node:util";
import type { ZodType } from "zod";
import { SallyportError } from "../contract/error.ts";
import { RunRequest } from "../contract/request.ts";
import { nearest } from "../present/nearest.ts";

/** The request as its schema has it; throws InvalidRequest, which says what is wrong. */
export function schemaRequest(request: unknown): RunRequest {
  return fieldByField(request) ?? asAWhole(request);
}

function asAWhole(request: unknown): RunRequest {
  const parsed = RunRequest.safeParse(request);
  if (!parsed.success) throw invalid(parsed.error.issues, request);
  return parsed.data;
}

const FIELDS: Readonly<Record<string, ZodType>> = RunRequest.shape;

/**
 * The same by the same schemas, but only those of the fields that are there: a request has two of twenty. Null: it is
 * no plain object of valid fields, which is for the whole schema to put into words.
 */
function fieldByField(request: unknown): RunRequest | null {
  if (typeof request !== "object" || request === null || Object.getPrototypeOf(request) !== Object.prototype)
    return null;
  const valid: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(request)) {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    const parsed = field?.safeParse(value);
    if (!parsed?.success) return null;
    valid[name] = parsed.data;
  }
  return "command" in valid ? (valid as RunRequest) : null;
}

interface Issue {
  path: PropertyKey[];
  message: string;
  /** The unknown ones, where that is what is wrong. */
  keys?: string[];
  /** What is wrong with the key itself, where a record's key is. */
  issues?: { message: string }[];
}

function invalid(issues: Issue[], request: unknown): SallyportError {
  return new SallyportError("InvalidRequest", fault(issues[0], request), [
    { action: "fix_request", hint: "`sallyport run --help` and docs/library.md say what a request may hold." },
  ]);
}

function fault(issue: Issue | undefined, request: unknown): string {
  const path = issue?.path ?? [];
  const [unknown] = issue?.keys ?? [];
  if (unknown !== undefined && path.length === 0) {
    const near = nearest(unknown, Object.keys(RunRequest.shape));
    return `\`${shown(unknown)}\` is not a known field${near ? `; did you mean \`${near}\`?` : "."}`;
  }
  const where = path.length > 0 ? `\`${shown(path.map(String).join("."))}\`` : "The request";
  let value: unknown = request;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  const received = inspect(value, { depth: 0 }).slice(0, 100);
  const message = issue?.issues?.[0]?.message ?? issue?.message ?? "is not valid";
  // In zod's own messages the type is all that was received.
  const wanted = message.replace(/^Invalid input: expected (\w+), received .*$/s, "must be of type $1");
  return `${where}: ${wanted}; received ${received}.`;
}

/** A caller's own words, control characters made visible. */
function shown(text: string): string {
  return JSON.stringify(text).slice(1, -1).slice(0, 100);
}
