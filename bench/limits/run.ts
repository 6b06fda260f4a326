import type { LaunchLimits } from "../../src/core/launch.ts";
import { NO_LIMITS } from "../../src/core/launch.ts";
import { NativeExecutor } from "../../src/executor/native/executor.ts";
import { LocalSessionReader } from "../../src/session/session-folder.ts";
import { bareExecutor } from "../bare-executor.ts";
import { atMost, benchGateway, percentile, takeTurns } from "../measure.ts";
import type { BenchResult } from "../result.ts";

const MEMORY = { memoryBytes: 256 << 20 };
const CPU = { cpu: 1 };
const PROCESSES = { processes: 64, exactProcesses: true };

/** The highest accepted cost of each limit, relative to a command without limits. */
const LIMITS: [name: string, target: number, limits: Partial<LaunchLimits>][] = [
  ["the default limits", 1.05, { processes: 2048 }],
  ["a process limit", 1.25, PROCESSES],
  ["a memory limit", 1.3, MEMORY],
  ["a CPU limit", 1.25, CPU],
  ["all three limits", 1.6, { ...PROCESSES, ...MEMORY, ...CPU }],
];

/** Measures what each limit that the kernel enforces adds to a command that does nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  const { state, leave } = await benchGateway();
  const executor = new NativeExecutor(state, new LocalSessionReader());
  try {
    const subjects = LIMITS.map(
      ([, , limits]) =>
        () =>
          bareExecutor(executor, { limits: { ...NO_LIMITS, ...limits } }),
    );
    const [none = [], ...limited] = await takeTurns(quick ? 200 : 800, [() => bareExecutor(executor), ...subjects]);
    return LIMITS.map(([name, target], index) =>
      atMost(target, {
        name: `run /bin/true with ${name}, p50`,
        ours: percentile(limited[index] ?? [], 0.5),
        peer: "without",
        peerValue: percentile(none, 0.5),
        unit: "ms",
      }),
    );
  } finally {
    await executor.close();
    await leave();
  }
}
