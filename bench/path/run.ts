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

/** As an agent's commands come: what one leaves to be written is the next one's to bear, not another subject's. */
const IN_A_ROW = 5;
const BLOCKS = 8;

/**
 * Samples of the whole path, the bare executor and `spawn`, in blocks, so that all three see the same machine. Spawning
 * has blocks of its own: after a fork of the heap every page that is written costs a fault, and that is not our doing.
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

/** What validate, judge, permit, record, audit and present add to the bare executor. */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  // Unconfined like the bare executor; what the sandbox costs is measured by itself.
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
      // A quarter of a millisecond where spawning takes two: machines differ, and this one from hour to hour.
      atMost(0.125, {
        name: "the whole path adds to the bare executor, p50",
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
