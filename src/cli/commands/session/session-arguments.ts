import type { SessionHandle } from "../../../core/gateway.ts";
import { type Invocation, UsageError } from "../../command.ts";
import { withGateway } from "../../open.ts";
import { reportError } from "../../report-error.ts";

export const NO_SESSION = "no session given; use an ID, the beginning of an ID, or a name";

/** Returns the only SESSION argument. */
export function onlySession({ positionals, rest }: Invocation): string {
  const [reference, ...more] = [...positionals, ...(rest ?? [])];
  if (reference === undefined) throw new UsageError(NO_SESSION);
  if (more.length > 0) throw new UsageError(`unexpected argument \`${more[0]}\`; this command takes one session`);
  return reference;
}

/**
 * Calls `act` for each SESSION argument in order. An error is reported and does not stop the others. Returns the exit
 * code of the last error, or the last result if there was none.
 */
export async function forEachSession(
  invocation: Invocation,
  act: (session: SessionHandle) => Promise<number>,
): Promise<number> {
  const references = [...invocation.positionals, ...(invocation.rest ?? [])];
  if (references.length === 0) throw new UsageError(NO_SESSION);
  return withGateway(invocation, async (gateway) => {
    let succeeded = 0;
    let failed = 0;
    for (const reference of references) {
      try {
        succeeded = await act(await gateway.find(reference));
      } catch (error) {
        failed = reportError(error, invocation.io, { json: invocation.values.json === true });
      }
    }
    return failed || succeeded;
  });
}
