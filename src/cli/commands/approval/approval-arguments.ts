import type { Approvals } from "../../../approval/approvals.ts";
import type { Approval, GrantScope } from "../../../core/approval.ts";
import { type Invocation, UsageError } from "../../command.ts";
import { printOneOrMany } from "../../io.ts";
import { withApprovals } from "../../open.ts";
import { durationOption, textOption } from "../../options.ts";
import { reportError } from "../../report-error.ts";

/** Calls `act` for each ID argument. An error is reported and does not stop the others. */
export async function forEachApproval(
  invocation: Invocation,
  act: (approvals: Approvals, id: string) => Approval,
): Promise<number> {
  const { io, values } = invocation;
  const ids = [...invocation.positionals, ...(invocation.rest ?? [])];
  if (ids.length === 0) throw new UsageError("no approval request given; use an ID or the beginning of an ID");
  return withApprovals(invocation, async (approvals) => {
    const done: Approval[] = [];
    let code = 0;
    for (const id of ids) {
      try {
        done.push(act(approvals, id));
      } catch (error) {
        code = reportError(error, io, { json: values.json === true });
      }
    }
    if (values.json) printOneOrMany(done, io);
    return code;
  });
}

/** Returns the scope and expiry of the grant to create, or undefined without `--always`. */
export function grantScope(values: Invocation["values"]): GrantScope | undefined {
  const patterns = textOption(values, "args");
  const expiresMs = durationOption(values, "expires");
  if (!values.always) {
    if (patterns !== undefined || expiresMs !== undefined) {
      throw new UsageError("`--args` and `--expires` require `--always`");
    }
    return undefined;
  }
  if (expiresMs === 0) throw new UsageError("`--expires` must be greater than 0");
  return {
    ...(patterns === undefined ? {} : { args: splitPatterns(patterns) }),
    ...(expiresMs === undefined ? {} : { expiresMs }),
  };
}

/** Splits patterns at spaces. A space inside an argument has to be written as `?`. */
function splitPatterns(text: string): string[] {
  return text.split(/\s+/).filter((pattern) => pattern !== "");
}
