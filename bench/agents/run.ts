/**
 * `npm run bench -- --peers agents`: scripted agents do twelve tasks over MCP with the toolsets of Sallyport and with
 * other MCP servers that run commands. Each task has one strategy, written in terms of the tools that every server has
 * (`tools.ts`): do what the answer says, otherwise poll. The result is checked by a fact outside the server.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import type { BenchResult } from "../result.ts";
import { Agent, NoMeansError } from "./agent.ts";
import { PEERS } from "./peers.ts";
import { Place } from "./place.ts";
import { TOOLSETS } from "./sallyport.ts";
import { TASKS, type Task } from "./tasks.ts";
import type { AgentTools } from "./tools.ts";

/** What one agent needed for one task. `problem` is null if it succeeded. */
interface Attempt {
  task: string;
  server: string;
  calls: number;
  bytes: number;
  ms: number;
  problem: string | null;
  /** Whether the server has a tool for the task. */
  means: boolean;
}

const TRANSCRIPTS = new URL("../out/agents/", import.meta.url);

/** Returns null if the server is not installed. */
export async function attempt(task: Task, tools: AgentTools): Promise<Attempt | null> {
  const place = new Place();
  try {
    const secret = task.prepare(place);
    const server = await tools.connect(place);
    if (server === null) return null;
    try {
      // The first call reports what is particular to this machine; it is not part of the task.
      await new Agent(tools, server).run("true");
      const agent = new Agent(tools, server);
      const from = performance.now();
      let means = true;
      const failed = (error: unknown) => {
        means = !(error instanceof NoMeansError);
        return error instanceof Error ? error.message : String(error);
      };
      const outcome = task.attempt(agent, place, secret).then(
        (report) => ({ report }),
        (error) => ({ error: failed(error) }),
      );
      const result = await outcome;
      const ms = performance.now() - from;
      const problem = "error" in result ? result.error : await task.problem(place, secret, result.report);
      const verdict = problem === null ? "done" : `failed: ${problem}`;
      const name = `${tools.name} ${task.name}`.replaceAll(/[^\w]+/g, "-");
      writeFileSync(new URL(`${name}.txt`, TRANSCRIPTS), `${agent.transcript}\n\n${verdict}\n`);
      return { task: task.name, server: tools.name, calls: agent.calls, bytes: agent.bytes, ms, problem, means };
    } finally {
      await server.leave();
    }
  } finally {
    await place.leave();
  }
}

function cell(attempt: Attempt | undefined): string {
  if (attempt === undefined) return "not installed";
  const { calls, bytes, ms, problem, means } = attempt;
  if (!means) return "no tool for it";
  const size = bytes < 10_000 ? `${bytes} B` : `${Math.round(bytes / 1000)} kB`;
  return `${problem === null ? "" : "failed: "}${calls} ${calls === 1 ? "call" : "calls"}, ${size}, ${(ms / 1000).toFixed(1)} s`;
}

function table(attempts: Attempt[]): string {
  const servers = [...TOOLSETS, ...PEERS].map(({ name }) => name);
  const of = (task: string, server: string) => attempts.find((one) => one.task === task && one.server === server);
  const rows = TASKS.map(({ name }) => [name, ...servers.map((server) => cell(of(name, server)))]);
  return [["task", ...servers], servers.concat("").map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/** Compares a toolset with the peer that did the task with the least; a peer that failed is no measure. */
function row(ours: Attempt, peers: Attempt[], what: "calls" | "bytes"): BenchResult {
  const able = peers.filter(({ task, problem }) => task === ours.task && problem === null);
  const best = able.sort((a, b) => a[what] - b[what])[0];
  return {
    name: `agent, ${ours.server}: ${ours.task}, ${what}`,
    ours: ours[what],
    peer: best?.server ?? "no peer succeeded",
    peerValue: best?.[what] ?? null,
    unit: what === "bytes" ? "B" : "calls",
    ratio: best ? ours[what] / best[what] : null,
    target: "done, <= 1 x",
    pass: ours.problem === null && (best === undefined || ours[what] <= best[what]),
  };
}

function successes(server: string, attempts: Attempt[]): BenchResult {
  const own = attempts.filter((one) => one.server === server);
  const able = own.filter(({ means }) => means);
  const done = able.filter(({ problem }) => problem === null);
  return {
    name: `agent, ${server}: tasks done of ${able.length} that it has tools for`,
    ours: done.length,
    peer: "",
    peerValue: null,
    unit: "tasks",
    ratio: null,
    target: "all",
    pass: done.length === able.length,
  };
}

export async function run(): Promise<BenchResult[]> {
  mkdirSync(TRANSCRIPTS, { recursive: true });
  const attempts: Attempt[] = [];
  for (const task of TASKS) {
    for (const tools of [...TOOLSETS, ...PEERS]) {
      const made = await attempt(task, tools);
      if (made === null) continue;
      attempts.push(made);
      process.stderr.write(`  ${task.name}, ${tools.name}: ${cell(made)}${made.problem ? ` (${made.problem})` : ""}\n`);
    }
  }
  process.stdout.write(`${table(attempts)}\n\n`);
  const names = new Set(PEERS.map(({ name }) => name));
  const peers = attempts.filter(({ server }) => names.has(server));
  const ours = attempts.filter(({ server, means }) => !names.has(server) && means);
  return [
    ...TOOLSETS.map(({ name }) => successes(name, attempts)),
    ...ours.flatMap((one) => [row(one, peers, "calls"), row(one, peers, "bytes")]),
  ];
}
