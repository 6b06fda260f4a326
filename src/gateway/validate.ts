import { inspect } from "node:util";
import { SallyportError } from "../core/error.ts";
import { parseRequest, type RunRequest, requestFields } from "../core/request.ts";
import { simpleRequest } from "../core/simple-request.ts";
import { nearest } from "../text/nearest.ts";

/** The kernel takes about 2 MiB of arguments and environment; far beyond that is not even sent. */
const MOST_BYTES = 4 << 20;

/**
 * Returns a copy of the request if it has the right shape; throws InvalidRequest, which names the field and the value
 * received, otherwise.
 */
export function validate(request: unknown): RunRequest {
  const valid = simpleRequest(request) ?? schemaRequest(request);
  const { command, args = [], env = {}, cwd = "", logFile = "", writable = [] } = valid;
  let length = Buffer.byteLength(command) + cwd.length + logFile.length;
  for (const path of writable) length += path.length;
  for (const arg of args) length += Buffer.byteLength(arg) + 1;
  for (const [name, value] of Object.entries(env)) length += Buffer.byteLength(name) + Buffer.byteLength(value);
  if (length > MOST_BYTES) {
    throw new SallyportError("ArgumentsTooLong", "The command, its arguments and environment are too long.", [
      { action: "use_stdin", hint: "Pass the data through stdin or a file instead." },
    ]);
  }
  return valid;
}

function schemaRequest(request: unknown): RunRequest {
  const parsed = parseRequest(request);
  if (parsed.success) return parsed.data;
  throw new SallyportError("InvalidRequest", describeIssue(parsed.error.issues[0], request), [
    { action: "fix_request", hint: "`sallyport run --help` and docs/library.md say what a request may hold." },
  ]);
}

interface Issue {
  path: PropertyKey[];
  message: string;
  /** The unknown fields, where that is the issue. */
  keys?: string[];
  /** The issues of a record's key. */
  issues?: { message: string }[];
}

function describeIssue(issue: Issue | undefined, request: unknown): string {
  const path = issue?.path ?? [];
  const [unknown] = issue?.keys ?? [];
  if (unknown !== undefined && path.length === 0) {
    const near = nearest(unknown, requestFields());
    return `\`${shown(unknown)}\` is not a known field${near ? `; did you mean \`${near}\`?` : "."}`;
  }
  const where = path.length > 0 ? `\`${shown(path.map(String).join("."))}\`` : "The request";
  let value: unknown = request;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  const received = inspect(value, { depth: 0 }).slice(0, 100);
  const message = issue?.issues?.[0]?.message ?? issue?.message ?? "is not valid";
  // zod's own messages name only the type that was received.
  const wanted = message.replace(/^Invalid input: expected (\w+), received .*$/s, "must be of type $1");
  return `${where}: ${wanted}; received ${received}.`;
}

/** A caller's own text, control characters made visible. */
function shown(text: string): string {
  return JSON.stringify(text).slice(1, -1).slice(0, 100);
}
