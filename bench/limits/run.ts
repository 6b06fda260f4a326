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

/** What each is to cost at most, against a command without any limit. */
const LIMITS: [name: string, bar: number, limits: Partial<LaunchLimits>][] = [
  ["the default limits", 1.05, { processes: 2048 }],
  ["a limit of processes", 1.25, PROCESSES],
  ["a limit of memory", 1.3, MEMORY],
  ["a limit of processors", 1.25, CPU],
  ["all three of them", 1.6, { ...PROCESSES, ...MEMORY, ...CPU }],
];

/** What a limit that the kernel keeps costs a command that does nothing. */
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
    return LIMITS.map(([name, bar], index) =>
      atMost(bar, {
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
