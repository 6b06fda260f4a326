import { SallyportError } from "../contract/error.ts";
import { plainRequest } from "../contract/plain-request.ts";
import type { RunRequest } from "../contract/request.ts";
import { schemaRequest } from "./schema-request.ts";

/** The kernel takes about 2 MiB of arguments and environment; far beyond that is not even sent. */
const MOST_BYTES = 4 << 20;

/** Insists on the request's shape; says which part is wrong and what was received. */
export function validate(request: unknown): RunRequest {
  const valid = plainRequest(request) ?? schemaRequest(request);
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
