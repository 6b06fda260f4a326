import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { installPeers } from "./peers.ts";
import type { BenchResult } from "./result.ts";

/**
 * Runs all benchmarks, or only those named as arguments, and measures the peers of each one with it. `--quick` takes
 * fewer samples; `--peers` installs the peers that are npm packages.
 */
const SUITES: Record<string, () => Promise<{ run(options: { quick: boolean }): Promise<BenchResult[]> }>> = {
  spawn: () => import("./spawn/run.ts"),
  path: () => import("./path/run.ts"),
  start: () => import("./start/run.ts"),
  sandbox: () => import("./sandbox/run.ts"),
  capture: () => import("./capture/run.ts"),
  logs: () => import("./logs/run.ts"),
  sessions: () => import("./sessions/run.ts"),
  check: () => import("./check/run.ts"),
  audit: () => import("./audit/run.ts"),
  terminal: () => import("./terminal/run.ts"),
  limits: () => import("./limits/run.ts"),
  mcp: () => import("./mcp/run.ts"),
  console: () => import("./console/run.ts"),
  fleet: () => import("./fleet/run.ts"),
  behavior: () => import("./behavior/run.ts"),
  agents: () => import("./agents/run.ts"),
  curves: () => import("./curves/run.ts"),
};

function figure(value: number | null, unit: string): string {
  if (value === null) return "";
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

function row(result: BenchResult): string[] {
  const peer = result.peerValue === null ? result.peer : `${result.peer} ${figure(result.peerValue, result.unit)}`;
  const ratio = result.ratio === null || result.peerValue === null ? "" : `${result.ratio.toFixed(2)} x`;
  const verdict = result.pass === null ? "" : result.pass ? "met" : "MISSED";
  return [result.name, figure(result.ours, result.unit), peer, ratio, result.target, verdict];
}

function markdown(results: BenchResult[]): string {
  const lines = results.map((result) => `| ${row(result).join(" | ")} |`);
  return [
    "| measurement | Sallyport | peer | ratio | target | |",
    "| --- | --- | --- | --- | --- | --- |",
    ...lines,
  ].join("\n");
}

function machine(): string {
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} x ${cpus()[0]?.model ?? "CPU"}, ${memory} GiB, Linux ${release()}, Node ${process.versions.node}`;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean" }, peers: { type: "boolean" } },
});
if (values.peers) installPeers();
const chosen = positionals.length > 0 ? positionals : Object.keys(SUITES);
const results: BenchResult[] = [];
for (const name of chosen) {
  const load = SUITES[name];
  if (!load) throw new Error(`unknown benchmark "${name}"; choose from ${Object.keys(SUITES).join(", ")}`);
  process.stderr.write(`bench ${name} …\n`);
  results.push(...(await (await load()).run({ quick: values.quick ?? false })));
}
mkdirSync(new URL("out/", import.meta.url), { recursive: true });
const report = { at: new Date().toISOString(), machine: machine(), quick: values.quick ?? false, results };
writeFileSync(new URL("out/results.json", import.meta.url), `${JSON.stringify(report, null, 2)}\n`);
process.stdout.write(`${machine()}\n\n${markdown(results)}\n`);
process.exit(0);
