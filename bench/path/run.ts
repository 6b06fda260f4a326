import { spawn } from "node:child_process";
import { NativeExecutor } from "../../src/executor/native/executor.ts";
import { LocalSessionReader } from "../../src/session/session-folder.ts";
import { bareExecutor } from "../bare-executor.ts";
import { atMost, benchGateway, percentile, takeTurns, UNLIMITED } from "../measure.ts";
import type { BenchResult } from "../result.ts";

const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined)) as Record<
  string,
  string
>;

function nodeSpawn(): Promise<unknown> {
  return new Promise((resolve, reject) => spawn("/bin/true").on("close", resolve).on("error", reject));
}

/** The number of consecutive calls of one subject. Writes that one call defers then delay mostly the same subject. */
const IN_A_ROW = 5;
const BLOCKS = 8;

/**
 * Samples the whole path, the bare executor and `spawn` in alternating blocks. `spawn` has separate blocks, because after a
 * fork every write to the heap causes a page fault, which would slow down the other two.
 */
async function threeOf(rounds: number, whole: () => Promise<unknown>, alone: () => Promise<unknown>) {
  const samples: [number[], number[], number[]] = [[], [], []];
  for (let block = 0; block < BLOCKS; block++) {
    const [a = [], b = []] = await takeTurns(rounds / BLOCKS / IN_A_ROW, [whole, alone], IN_A_ROW);
    const [c = []] = await takeTurns(rounds / BLOCKS / 4, [nodeSpawn]);
    samples[0].push(...a);
    samples[1].push(...b);
    samples[2].push(...c);
  }
  return samples;
}

/** Measures what the steps of the gateway (validate, plan, inspect, decide, authorize, record) add to the bare executor. */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  // The gateway uses no sandbox, like the bare executor. Another suite measures the sandbox.
  const unconfined = { policy: { ...UNLIMITED.policy, sandbox: "off" as const } };
  const { gateway, state, leave } = await benchGateway(unconfined);
  const busy = await benchGateway(unconfined);
  const executor = new NativeExecutor(state, new LocalSessionReader());
  const rounds = quick ? 200 : 800;
  const whole = () => gateway.run({ command: "/bin/true", args: [] });
  try {
    const [a, b, spawned] = await threeOf(rounds, whole, () => bareExecutor(executor, { env }));
    const added = percentile(a, 0.5) - percentile(b, 0.5);
    for (let n = 0; n < 1000; n++)
      await busy.gateway.run({ command: `eval "echo ${n} $RANDOM"` }, { approvalTimeoutMs: 0 });
    const pending = busy.gateway.approvals.list({ status: "pending", limit: 2000 }).length;
    const [c = [], d = []] = await takeTurns(rounds, [
      () => busy.gateway.run({ command: "/bin/true", args: [] }),
      whole,
    ]);
    return [
      // The target is 0.25 ms on a machine where `spawn` takes 2 ms. A ratio holds on other machines too.
      atMost(0.125, {
        name: "overhead of the whole path over the bare executor, p50",
        ours: added,
        peer: "child_process.spawn",
        peerValue: percentile(spawned, 0.5),
        unit: "ms",
      }),
      atMost(1.1, {
        name: `run /bin/true with ${pending} approvals pending, p50`,
        ours: percentile(c, 0.5),
        peer: "with none",
        peerValue: percentile(d, 0.5),
        unit: "ms",
      }),
    ];
  } finally {
    await executor.close();
    await busy.leave();
    await leave();
  }
}
