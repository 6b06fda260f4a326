import { inspect } from "node:util";
import { SallyportError } from "../core/error.ts";
import { nextStep } from "../core/next-step.ts";
import { parseRequest, type RunRequest, requestFields } from "../core/request.ts";
import { simpleRequest } from "../core/simple-request.ts";
import { nearest } from "../text/nearest.ts";
import { requirement } from "../text/requirement.ts";

/** The kernel accepts about 2 MiB of arguments and environment. Requests far above that are rejected early. */
const MAX_BYTES = 4 << 20;

/** Returns a copy of a valid request. Otherwise throws InvalidRequest, which names the field and the received value. */
export function validate(request: unknown): RunRequest {
  const valid = simpleRequest(request) ?? schemaRequest(request);
  const { command, args = [], env = {}, cwd = "", logFile = "", writable = [] } = valid;
  let length = Buffer.byteLength(command) + cwd.length + logFile.length;
  for (const path of writable) length += path.length;
  for (const arg of args) length += Buffer.byteLength(arg) + 1;
  for (const [name, value] of Object.entries(env)) length += Buffer.byteLength(name) + Buffer.byteLength(value);
  if (length > MAX_BYTES) {
    const message = `The command with its arguments and environment exceeds ${MAX_BYTES >> 20} MiB.`;
    throw new SallyportError("ArgumentsTooLong", message, [
      { action: "use_stdin", hint: "Write the data to a file and pass its path." },
    ]);
  }
  return valid;
}

function schemaRequest(request: unknown): RunRequest {
  const parsed = parseRequest(request);
  if (parsed.success) return parsed.data;
  const issue: Issue | undefined = parsed.error.issues[0];
  const fix = issue?.keys
    ? nextStep("fix_request", { name: "use-fields", fields: requestFields().join(", ") })
    : { action: "fix_request", hint: "Correct it and try again." };
  throw new SallyportError("InvalidRequest", describeIssue(issue, request), [fix]);
}

interface Issue {
  path: PropertyKey[];
  message: string;
  /** Names of unknown fields. */
  keys?: string[];
  /** Issues with the key of a record. */
  issues?: { message: string }[];
}

function describeIssue(issue: Issue | undefined, request: unknown): string {
  const path = issue?.path ?? [];
  const [unknown] = issue?.keys ?? [];
  if (unknown !== undefined && path.length === 0) {
    const near = nearest(unknown, requestFields());
    return `Unknown field \`${shown(unknown)}\`${near ? `; did you mean \`${near}\`?` : "."}`;
  }
  const where = path.length > 0 ? `\`${shown(path.map(String).join("."))}\`` : "The request";
  let value: unknown = request;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  const received = inspect(value, { depth: 0 }).slice(0, 100);
  const wanted = requirement(issue?.issues?.[0]?.message ?? issue?.message ?? "is not valid");
  return `${where} ${wanted}; received ${received}.`;
}

/** Returns text from the caller, truncated and with control characters escaped. */
function shown(text: string): string {
  return JSON.stringify(text).slice(1, -1).slice(0, 100);
}
