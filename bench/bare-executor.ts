import { newId } from "../src/core/id.ts";
import type { LaunchLimits } from "../src/core/launch.ts";
import { NO_LIMITS } from "../src/core/launch.ts";
import type { NativeExecutor } from "../src/executor/native/executor.ts";

/** Runs /bin/true with a keeper only: no session row, no policy, no audit. */
export async function bareExecutor(
  executor: NativeExecutor,
  { env = {}, limits = NO_LIMITS }: { env?: Record<string, string>; limits?: LaunchLimits } = {},
): Promise<void> {
  const slot = await executor.prepare();
  const spec = {
    id: newId(),
    title: "bench true",
    file: "/bin/true",
    path: "",
    argv: ["/bin/true"],
    env,
    cwd: "/",
    root: null,
    stdin: "none" as const,
    capture: "apart" as const,
    pty: null,
    timeoutMs: 0,
    graceMs: 0,
    diskCap: 0,
    logFile: null,
    limits,
    sandbox: null,
    background: false,
    durable: false,
  };
  const execution = slot.launch(spec, () => {});
  const release = execution.hold();
  await execution.exited;
  release();
}
