import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { BenchResult } from "../result.ts";
import { peers } from "../sandbox/peers.ts";
import type { Costs } from "../sandbox/profiles.ts";
import { type Bars, drawBars, drawLines } from "./chart.ts";
import { captureAgainstSize, costAgainstHeap, memoryAgainstSessions, rateAgainstConcurrency } from "./measurements.ts";

const PLOTS = new URL("../../docs/plots/", import.meta.url);

/** Draws what docs/benchmarks.md shows. Promises nothing itself: the rows of the other suites do. */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  mkdirSync(PLOTS, { recursive: true });
  const save = (file: string, text: string) => writeFileSync(new URL(file, PLOTS), text);
  // The one that fills this process comes last: whatever it starts afterwards would cost more.
  for (const measure of [rateAgainstConcurrency, captureAgainstSize, memoryAgainstSessions, costAgainstHeap]) {
    const chart = await measure(quick);
    save(chart.file, drawLines(chart));
  }
  const bars = await sandboxCosts(quick);
  save(bars.file, drawBars(bars));
  return [];
}

async function sandboxCosts(quick: boolean): Promise<Bars> {
  const profiles = fileURLToPath(new URL("../sandbox/profiles.ts", import.meta.url));
  const rounds = quick ? "60" : "200";
  const costs = JSON.parse(execFileSync(process.execPath, [profiles, rounds], { encoding: "utf8" })) as Costs;
  const shells = (await peers(quick)).filter(({ peerValue }) => peerValue !== null);
  const bars = [
    ...Object.entries(costs)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => ({ name, value: value as number, ours: !name.startsWith("bwrap") })),
    ...shells.slice(0, 1).map(({ ours }) => ({ name: "sallyport run, from a shell", value: ours, ours: true })),
    ...shells.map(({ peer, peerValue }) => ({ name: `${peer}, likewise`, value: peerValue as number, ours: false })),
  ];
  return { file: "sandbox.svg", title: "What /bin/true takes in a sandbox", unit: "ms", bars };
}
