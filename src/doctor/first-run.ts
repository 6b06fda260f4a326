import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SallyportError } from "../core/error.ts";
import { formatDuration } from "../text/format.ts";
import { type Finding, fail, ok } from "./finding.ts";

const NAME = "a command";
const REPORT = "Look at the failures above first; if there are none, please report this.";

/** The proof of it all: one command through a gateway of its own, whose keeper leaves when its folder is gone. */
export async function checkFirstRun(): Promise<Finding> {
  const state = mkdtempSync(join(tmpdir(), "sallyport-doctor-"));
  try {
    const { openGateway } = await import("../gateway/open.ts");
    const gateway = await openGateway({ state });
    const { exitCode, stdout, durationMs, error } = await gateway
      .run({ command: "echo ready", timeoutMs: 5000 })
      .finally(() => gateway.close());
    if (exitCode === 0 && stdout === "ready\n")
      return ok(NAME, `ran through the gateway in ${formatDuration(durationMs)}`);
    return fail(
      NAME,
      error?.message ?? `did not run as it should (exit code ${exitCode})`,
      error?.recovery[0]?.hint ?? REPORT,
    );
  } catch (error) {
    const hint = error instanceof SallyportError ? error.recovery[0]?.hint : undefined;
    return fail(NAME, error instanceof Error ? error.message : String(error), hint ?? REPORT);
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}
