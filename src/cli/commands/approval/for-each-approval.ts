import type { Approvals } from "../../../approval/approvals.ts";
import type { Approval } from "../../../core/approval.ts";
import { withApprovals } from "../../approvals/with-approvals.ts";
import type { Invocation } from "../../command.ts";
import { printOneOrMany } from "../../print-json.ts";
import { report } from "../../report-error.ts";
import { UsageError } from "../../usage-error.ts";

/** Does one thing to every approval named on the command line. One that fails is reported and the rest go on. */
export async function eachApproval(
  invocation: Invocation,
  act: (approvals: Approvals, id: string) => Approval,
): Promise<number> {
  const { io, values } = invocation;
  const ids = [...invocation.positionals, ...(invocation.rest ?? [])];
  if (ids.length === 0) throw new UsageError("which request? Give an id or the beginning of one");
  return withApprovals(invocation, async (approvals) => {
    const done: Approval[] = [];
    let code = 0;
    for (const id of ids) {
      try {
        done.push(act(approvals, id));
      } catch (error) {
        code = report(error, io, { json: values.json === true });
      }
    }
    if (values.json) printOneOrMany(done, io);
    return code;
  });
}
