import type { Live } from "./live/open.ts";
import type { Operation } from "./operation.ts";
import { logOperations } from "./routes/logs.ts";
import { sessionOperations } from "./routes/sessions.ts";
import { signInOperations } from "./routes/sign-in.ts";

/** Everything the service can be asked. */
export function operations(live: Pick<Live, "operations">): Operation[] {
  return [...signInOperations, ...sessionOperations, ...logOperations, ...live.operations];
}
