import type { GrantScope } from "../../core/approval.ts";
import type { Invocation } from "../command.ts";
import { durationOption, textOption } from "../options.ts";
import { UsageError } from "../usage-error.ts";

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
