import { SallyportError } from "../contract/error.ts";
import { RunRequest } from "../contract/request.ts";

/** The kernel takes about 2 MiB of arguments and environment; far beyond that is not even sent. */
const MOST_TEXT = 8 << 20;

/** Insists on the request's shape; says which part is wrong and what was received. */
export function validate(request: unknown): RunRequest {
  const parsed = RunRequest.safeParse(request);
  if (!parsed.success) throw invalid(parsed.error.issues, request);
  const { command, args = [], env = {} } = parsed.data;
  let length = command.length;
  for (const arg of args) length += arg.length;
  for (const [name, value] of Object.entries(env)) length += name.length + value.length;
  if (length > MOST_TEXT) {
    throw new SallyportError("ArgumentsTooLong", "The command, its arguments and environment are too long.", [
      { action: "use_stdin", hint: "Pass the data through stdin or a file instead." },
    ]);
  }
  return parsed.data;
}

function invalid(issues: { path: PropertyKey[]; message: string; code?: string }[], request: unknown): SallyportError {
  const [issue] = issues;
  const path = issue?.path ?? [];
  const where = path.length > 0 ? `\`${path.map(String).join(".")}\`` : "The request";
  let value: unknown = request;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  const received = path.length > 0 ? `; received ${JSON.stringify(value)?.slice(0, 100)}` : "";
  return new SallyportError("InvalidRequest", `${where}: ${issue?.message ?? "is not valid"}${received}.`, [
    { action: "fix_request", hint: "See docs/library.md for what a request may hold." },
  ]);
}
