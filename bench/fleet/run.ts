import type { Gateway } from "../../src/gateway/gateway.ts";
import { benchGateway, percentile, takeTurns } from "../measure.ts";
import type { BenchResult } from "../result.ts";
import { BenchFleet } from "./bench-fleet.ts";

const TRUE = { command: "/bin/true", args: [] };
const SLEEP = { command: "sleep", args: ["0.1"] };
const SLEEP_MS = 100;
/** Slots per worker. The number is low, so that eight workers leave the CPU of one machine mostly idle. */
const SLOTS = 2;
const MOST_ADDED_MS = 3;
const MOST_BEHIND_MS = 20;
const LEAST_OF_LINEAR = 0.9;

export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  const fleet = await BenchFleet.start();
  try {
    await fleet.addWorker(SLOTS);
    return [...(await ofOne(fleet, quick)), ...(await ofMany(fleet, quick))];
  } finally {
    await fleet.close();
  }
}

/** Measures, with one worker, the duration and CPU time of a run and the delay of a followed log. */
async function ofOne(fleet: BenchFleet, quick: boolean): Promise<BenchResult[]> {
  const here = await benchGateway();
  const there = await fleet.gateway();
  try {
    const rounds = quick ? 100 : 500;
    const local = () => here.gateway.run(TRUE);
    const remote = () => there.gateway.run(TRUE);
    const [a = [], b = []] = await takeTurns(rounds / 5, [remote, local], 5);
    const [ours, peer] = [percentile(a, 0.5), percentile(b, 0.5)];
    const added = (await cpuPer(rounds, remote, fleet)) - (await cpuPer(rounds, local, fleet));
    const behind = await lag(there.gateway, quick ? 100 : 300);
    return [
      {
        name: "run true through the fleet, p50",
        ours,
        peer: "local run",
        peerValue: peer,
        unit: "ms",
        ratio: ours / peer,
        target: `at most ${MOST_ADDED_MS} ms more`,
        pass: ours <= peer + MOST_ADDED_MS,
      },
      plain("CPU time that the fleet adds to a command (gateway, server, worker)", added, "ms", null, ""),
      plain("delay of a followed log, p95", behind, "ms", behind <= MOST_BEHIND_MS, `at most ${MOST_BEHIND_MS} ms`),
    ];
  } finally {
    await here.leave();
    await there.leave();
  }
}

async function cpuPer(rounds: number, subject: () => Promise<unknown>, fleet: BenchFleet): Promise<number> {
  const before = fleet.cpuMs();
  const own = process.cpuUsage();
  for (let round = 0; round < rounds; round++) await subject();
  const { user, system } = process.cpuUsage(own);
  return ((user + system) / 1000 + fleet.cpuMs() - before) / rounds;
}

/** Measures the time from when a program prints a line until a client that follows the log has it. */
async function lag(gateway: Gateway, lines: number): Promise<number> {
  const program = `let n = 0; const timer = setInterval(() => {
    process.stdout.write(String(performance.timeOrigin + performance.now()) + "\\n");
    if (++n === ${lines}) clearInterval(timer);
  }, 15);`;
  const session = await gateway.start({ command: process.execPath, args: ["-e", program] });
  const behind: number[] = [];
  for await (const chunk of session.follow()) {
    const now = performance.timeOrigin + performance.now();
    const [first = ""] = Buffer.from(chunk.bytes).toString().split("\n");
    behind.push(now - Number(first));
  }
  return percentile(behind, 0.95);
}

/** Measures the throughput of one, two, four and eight workers with commands that sleep. */
async function ofMany(fleet: BenchFleet, quick: boolean): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  const { gateway, leave } = await fleet.gateway();
  let single = 0;
  try {
    for (const workers of [1, 2, 4, 8]) {
      while (fleet.workers.length < workers) await fleet.addWorker(SLOTS);
      await throughput(gateway, workers * SLOTS * 2); // Warm up all workers.
      const perSecond = await throughput(gateway, workers * SLOTS * (quick ? 20 : 60));
      if (workers === 1) single = perSecond;
      const share = perSecond / (single * workers);
      results.push({
        name: `${SLEEP_MS} ms commands on ${workers} worker${workers === 1 ? "" : "s"} with ${SLOTS} slots each`,
        ours: perSecond,
        peer: workers === 1 ? "theoretical limit" : `${workers} x one worker`,
        peerValue: workers === 1 ? (1000 / SLEEP_MS) * SLOTS : single * workers,
        unit: "/s",
        ratio: workers === 1 ? perSecond / ((1000 / SLEEP_MS) * SLOTS) : share,
        target: workers === 1 ? "" : `at least ${LEAST_OF_LINEAR} of linear`,
        pass: workers === 1 ? null : share >= LEAST_OF_LINEAR,
      });
    }
    return results;
  } finally {
    await leave();
  }
}

async function throughput(gateway: Gateway, commands: number): Promise<number> {
  const from = performance.now();
  await Promise.all(Array.from({ length: commands }, () => gateway.run(SLEEP)));
  return commands / ((performance.now() - from) / 1000);
}

function plain(name: string, ours: number, unit: string, pass: boolean | null, target: string): BenchResult {
  return { name, ours, peer: "", peerValue: null, unit, ratio: null, target, pass };
}
