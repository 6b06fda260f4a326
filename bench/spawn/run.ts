import { spawn } from "node:child_process";
import { execa } from "execa";
import { atLeast, atMost, benchGateway, percentile, takeTurns } from "../measure.ts";
import type { BenchResult } from "../result.ts";

const TRUE = "/bin/true";

function nodeSpawn(): Promise<unknown> {
  return new Promise((resolve, reject) => spawn(TRUE).on("close", resolve).on("error", reject));
}

async function throughput(count: number, inFlight: number, one: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  let left = count;
  const lane = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return (count * 1000) / (performance.now() - from);
}

/** Measures the time to run /bin/true. Our time includes writing the session row, logs and exit record. */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  const { gateway, leave } = await benchGateway();
  const ours = () => gateway.run({ command: TRUE, args: [] });
  const results: BenchResult[] = [];
  const rounds = quick ? 150 : 600;
  try {
    const [a = [], b = [], c = []] = await takeTurns(rounds, [ours, nodeSpawn, () => execa(TRUE)]);
    const p50 = percentile(a, 0.5);
    const name = "run /bin/true, small heap, p50";
    const base = { name, ours: p50, unit: "ms" };
    results.push(atMost(0.8, { ...base, peer: "child_process.spawn", peerValue: percentile(b, 0.5) }));
    results.push(atMost(0.8, { ...base, peer: "execa", peerValue: percentile(c, 0.5) }));

    const count = quick ? 800 : 3000;
    const rates: number[][] = [[], []];
    for (let round = 0; round < 3; round++) {
      rates[0]?.push(await throughput(count, 8, ours));
      rates[1]?.push(await throughput(count, 8, nodeSpawn));
    }
    results.push(
      atLeast(1.7, {
        name: "commands per second, 8 in flight",
        ours: percentile(rates[0] ?? [], 0.5),
        peer: "child_process.spawn",
        peerValue: percentile(rates[1] ?? [], 0.5),
        unit: "/s",
      }),
    );

    const ballast = Array.from({ length: 512 }, () => Buffer.alloc(1 << 20, 1));
    const [d = [], e = []] = await takeTurns(quick ? 40 : 150, [ours, nodeSpawn]);
    results.push(
      atMost(0.15, {
        name: `run /bin/true, ${ballast.length} MB of live Buffers, p50`,
        ours: percentile(d, 0.5),
        peer: "child_process.spawn",
        peerValue: percentile(e, 0.5),
        unit: "ms",
      }),
    );
    return results;
  } finally {
    await leave();
  }
}
