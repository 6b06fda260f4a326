import type { SessionHandle } from "../../../core/gateway.ts";
import { type Invocation, UsageError } from "../../command.ts";
import { withGateway } from "../../open.ts";
import { reportError } from "../../report-error.ts";

export const WHICH_SESSION = "which session? Give an id, the beginning of one, or a name";

/** The one SESSION that the command line names. */
export function onlySession({ positionals, rest }: Invocation): string {
  const [reference, ...more] = [...positionals, ...(rest ?? [])];
  if (reference === undefined) throw new UsageError(WHICH_SESSION);
  if (more.length > 0) throw new UsageError(`one session at a time; received \`${more[0]}\` as well`);
  return reference;
}

/**
 * Does one thing to every session named on the command line, in order. One that fails is reported and the rest go on;
 * the last failure's exit code, else the last success's, is the result.
 */
export async function forEachSession(
  invocation: Invocation,
  act: (session: SessionHandle) => Promise<number>,
): Promise<number> {
  const references = [...invocation.positionals, ...(invocation.rest ?? [])];
  if (references.length === 0) throw new UsageError(WHICH_SESSION);
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
