// Measures what a trivial command costs within real agent hosts: with the host's own shell, and in each mode of Sallyport.
// The time is that between the answer of the stand-in model and the request with the result, so that it includes the host.
//   node scripts/hosts/cost.ts                      Claude Code and opencode, 30 calls each
//   node scripts/hosts/cost.ts codex --calls 50
//
//   --cache DIR   where the hosts are installed; missing ones are installed there

import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Mode } from "../../src/setup/hosts/host.ts";
import { HOSTS } from "../../src/setup/hosts/index.ts";
import type { Headless } from "./headless/headless.ts";
import { HEADLESS } from "./headless/index.ts";
import { defaultCache, type Installed, install } from "./install.ts";
import type { Conversation } from "./model/conversation.ts";
import { serveModel } from "./model/server.ts";
import { run } from "./process.ts";
import { ourInput, ourTool } from "./scenario.ts";
import { endTrial, environment, setUp } from "./trial.ts";

const TIMEOUT_MS = 5 * 60_000;
/** Calls that are not measured: they start servers and fill caches. */
const WARM_UP = 5;
const COMMAND = "true";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cache: { type: "string", default: defaultCache() },
    calls: { type: "string", default: "30" },
  },
});

/** Makes the calls, and returns the time of each in milliseconds. */
async function measure(host: Headless, { program }: Installed, mode: Mode | "own"): Promise<number[]> {
  const root = mkdtempSync(join(tmpdir(), `sallyport-host-${host.name}-`));
  const [home, workspace] = [join(root, "home"), join(root, "workspace")];
  for (const folder of [home, workspace]) mkdirSync(folder);
  const times: number[] = [];
  let answeredMs: number | null = null;
  const next = async ({ tools }: Conversation) => {
    const call = callOf(host, mode, tools);
    // Hosts may send their first requests before a server has started.
    if (!call) return { call: { id: `early_${performance.now()}`, name: "none", input: {} } };
    if (answeredMs !== null) times.push(performance.now() - answeredMs);
    if (times.length >= WARM_UP + Number(values.calls)) return { text: "done" };
    answeredMs = performance.now();
    return { call: { id: `call_${times.length}`, ...call } };
  };
  const model = await serveModel(next);
  const env = environment(home);
  try {
    const launch = host.launch({
      home,
      model: model.url,
      prompt: "Run the commands.",
      mode: mode === "own" ? "shell" : mode,
    });
    const [file = program, ...before] = mode === "own" ? [] : await setUp(host, program, mode, { workspace, env });
    await run(file, [...before, ...launch.args], {
      cwd: workspace,
      env: { ...env, ...launch.env },
      timeoutMs: TIMEOUT_MS,
    });
    return times.slice(WARM_UP);
  } finally {
    await model.close();
    endTrial(root);
  }
}

function callOf(host: Headless, mode: Mode | "own", tools: string[]) {
  if (mode !== "mcp") return host.ownShell(COMMAND);
  const tool = ourTool(tools);
  return tool === undefined ? null : { name: tool, input: ourInput(tool, COMMAND) };
}

function percentile(times: readonly number[], part: number): string {
  const sorted = times.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  return value === undefined ? "-" : value.toFixed(0);
}

const names = positionals.length > 0 ? positionals : ["claude-code", "opencode"];
console.log("| host | way | p50 ms | p90 ms | calls |\n| --- | --- | --- | --- | --- |");
for (const name of names) {
  const host = HEADLESS.find((each) => each.name === name);
  if (!host) throw new Error(`unknown host ${name}; the hosts are ${HEADLESS.map((each) => each.name).join(", ")}`);
  const installed = await install(host, values.cache, false);
  const modes = HOSTS.find((each) => each.name === name)?.modes ?? [];
  for (const mode of ["own", ...modes] as const) {
    const times = await measure(host, installed, mode);
    const way = mode === "own" ? "its own shell, without Sallyport" : mode;
    console.log(
      `| ${host.name} ${installed.version} | ${way} | ${percentile(times, 0.5)} | ${percentile(times, 0.9)} | ${times.length} |`,
    );
  }
}
