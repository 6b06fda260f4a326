import type { Approvals } from "../../../approval/approvals.ts";
import type { Approval, GrantScope } from "../../../core/approval.ts";
import { type Invocation, UsageError } from "../../command.ts";
import { printOneOrMany } from "../../io.ts";
import { withApprovals } from "../../open.ts";
import { durationOption, textOption } from "../../options.ts";
import { reportError } from "../../report-error.ts";

/** Does one thing to every approval named on the command line. One that fails is reported and the rest go on. */
export async function forEachApproval(
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
        code = reportError(error, io, { json: values.json === true });
      }
    }
    if (values.json) printOneOrMany(done, io);
    return code;
  });
}

/** What `approve --always` was told about how wide and how long; undefined without `--always`. */
export function grantScope(values: Invocation["values"]): GrantScope | undefined {
  const patterns = textOption(values, "args");
  const expiresMs = durationOption(values, "expires");
  if (!values.always) {
    if (patterns !== undefined || expiresMs !== undefined) {
      throw new UsageError("`--args` and `--expires` are about a grant: give `--always` too");
    }
    return undefined;
  }
  if (expiresMs === 0) throw new UsageError("`--expires` must be longer than nothing");
  return {
    ...(patterns === undefined ? {} : { args: splitPatterns(patterns) }),
    ...(expiresMs === undefined ? {} : { expiresMs }),
  };
}

/** One pattern per argument, blanks between. A blank inside an argument is matched by `?`. */
function splitPatterns(text: string): string[] {
  return text.split(/\s+/).filter((pattern) => pattern !== "");
}
