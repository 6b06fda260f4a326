import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { BenchResult } from "../result.ts";
import { peers } from "../sandbox/peers.ts";
import type { Costs } from "../sandbox/profiles.ts";
import { type Bars, drawBars, drawLines } from "./chart.ts";
import { captureAgainstSize, costAgainstHeap, memoryAgainstSessions, rateAgainstConcurrency } from "./measurements.ts";

const PLOTS = new URL("../../docs/plots/", import.meta.url);

/** Draws the plots of docs/benchmarks.md. Sets no targets. */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  mkdirSync(PLOTS, { recursive: true });
  const save = (file: string, text: string) => writeFileSync(new URL(file, PLOTS), text);
  for (const bars of [sandboxCosts(quick), await shellCosts(quick)]) save(bars.file, drawBars(bars));
  // The measurement that fills the heap of this process is last, because it makes all later starts slower.
  for (const measure of [rateAgainstConcurrency, captureAgainstSize, memoryAgainstSessions, costAgainstHeap]) {
    const chart = await measure(quick);
    save(chart.file, drawLines(chart));
  }
  return [];
}

function sandboxCosts(quick: boolean): Bars {
  const profiles = fileURLToPath(new URL("../sandbox/profiles.ts", import.meta.url));
  const rounds = quick ? "60" : "200";
  const costs = JSON.parse(execFileSync(process.execPath, [profiles, rounds], { encoding: "utf8" })) as Costs;
  const bars = Object.entries(costs).flatMap(([name, value]) => {
    const ours = !name.startsWith("bwrap");
    return value === null ? [] : [{ name: ours ? `sallyport: ${name}` : name, value: value as number, ours }];
  });
  return { file: "sandbox.svg", title: "Time of /bin/true in a sandbox", unit: "ms", bars };
}

/** Measures whole command lines from start to exit; most of the time is loading. */
async function shellCosts(quick: boolean): Promise<Bars> {
  const rows = await peers(quick);
  const theirs = rows.flatMap(({ peer: name, peerValue: value }) =>
    value === null ? [] : [{ name, value, ours: false }],
  );
  const bars = [
    ...rows.slice(0, 1).map(({ ours: value }) => ({ name: "sallyport run", value, ours: true })),
    ...theirs,
  ];
  return { file: "sandbox-shell.svg", title: "Time of a sandboxed `true` from a shell", unit: "ms", bars };
}
