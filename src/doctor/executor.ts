import { portableLacks } from "../executor/notes.ts";
import { PORTABLE } from "../executor/portable/connect.ts";
import { selectExecutor } from "../executor/select-executor.ts";
import { type Finding, fail, type Machine, ok, warn } from "./finding.ts";
import { REBUILD } from "./keeper.ts";

const NAME = "executor";

/** What runs commands here, and what it cannot promise. */
export function checkExecutor(machine: Machine): Finding {
  try {
    const { kind, asked, reason } = selectExecutor(machine.state);
    if (kind === "native") return ok(NAME, "native");
    const why = asked ? "as SALLYPORT_EXECUTOR says" : (reason ?? "");
    const fix = asked ? "Unset SALLYPORT_EXECUTOR to have the native one where it can run." : fixFor(process.platform);
    return warn(NAME, `portable, ${why}: ${portableLacks(PORTABLE.abilities).join("; ")}`, fix);
  } catch (error) {
    return fail(NAME, error instanceof Error ? error.message : String(error), "Unset SALLYPORT_EXECUTOR.");
  }
}

function fixFor(platform: NodeJS.Platform): string {
  return platform === "linux" ? REBUILD : "Use Linux (a virtual machine, a container or WSL 2) to have the native one.";
}
