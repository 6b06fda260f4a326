/**
 * Measures the control traffic of a thousand workers against real servers: the cost of idle workers, and the latency of
 * sessions at the rate of a million a day, at ten times that rate, and at the highest rate that the servers can take.
 *
 *   node bench/fleet/scale.ts [--workers 1000] [--servers 1|3] [--seconds 15] [--processes 4]
 *                             [--own-queues replicated|single|none]
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { jetstream } from "@nats-io/jetstream";
import { joinFleet } from "../../src/fleet/connection.ts";
import { ensureStores } from "../../src/fleet/streams.ts";
import { subjectsOf } from "../../src/fleet/subjects.ts";
import { NatsCluster, NatsServer } from "../../test/fixtures/nats.ts";
import { percentile } from "../measure.ts";

const { values } = parseArgs({
  options: {
    workers: { type: "string", default: "1000" },
    servers: { type: "string", default: "1" },
    seconds: { type: "string", default: "15" },
    processes: { type: "string", default: "4" },
    "own-queues": { type: "string", default: "replicated" },
  },
});
const WORKERS = Number(values.workers);
const SECONDS = Number(values.seconds);
const PROCESSES = Number(values.processes);
const BEAT_MS = 2500;
const A_MILLION_A_DAY = 1_000_000 / 86_400;
const TICKS_PER_SECOND = 100;

const servers = values.servers === "1" ? [await NatsServer.start()] : (await NatsCluster.start(3)).servers;
const urls = servers.map(({ url }) => url);
const { connection } = await joinFleet({ servers: urls, as: "simulated" }, "gateway");
await ensureStores(connection, "main");
const js = jetstream(connection);
const subjects = subjectsOf("main");

interface Reading {
  atMs: number;
  cpuMs: number;
  inMsgs: number;
  outMsgs: number;
  inBytes: number;
  outBytes: number;
  rss: number;
  stored: number;
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** Returns the current counters, summed over all servers. */
async function read(): Promise<Reading> {
  const reading = { atMs: Date.now(), cpuMs: 0, inMsgs: 0, outMsgs: 0, inBytes: 0, outBytes: 0, rss: 0, stored: 0 };
  for (const server of servers) {
    const traffic =
      await server.monitor<Record<"in_msgs" | "out_msgs" | "in_bytes" | "out_bytes" | "mem", number>>("/varz");
    const { storage } = await server.monitor<{ storage: number }>("/jsz");
    reading.cpuMs += cpuMs(server.pid ?? 0);
    reading.inMsgs += traffic.in_msgs;
    reading.outMsgs += traffic.out_msgs;
    reading.inBytes += traffic.in_bytes;
    reading.outBytes += traffic.out_bytes;
    reading.rss += traffic.mem;
    reading.stored += storage;
  }
  return reading;
}

function report(what: string, before: Reading, after: Reading, latencies: number[], lost: number): void {
  const seconds = (after.atMs - before.atMs) / 1000;
  const rate = (name: keyof Reading) => (after[name] - before[name]) / seconds;
  const line = {
    what,
    "sessions/s": latencies.length / seconds,
    "p50 ms": percentile(latencies, 0.5),
    "p99 ms": percentile(latencies, 0.99),
    unanswered: lost,
    "cores used": rate("cpuMs") / 1000,
    "messages/s in": rate("inMsgs"),
    "messages/s out": rate("outMsgs"),
    "KiB/s in": rate("inBytes") / 1024,
    "KiB/s out": rate("outBytes") / 1024,
    "MiB memory": after.rss / 2 ** 20,
    "MiB stored": after.stored / 2 ** 20,
  };
  process.stdout.write(`${JSON.stringify(line, (_, value) => (typeof value === "number" ? round(value) : value))}\n`);
}

function round(value: number): number | null {
  return Number.isNaN(value) ? null : Number(value.toPrecision(3));
}

const sent = new Map<string, number>();
let latencies: number[] = [];
let onResult: (() => void) | null = null;
connection.subscribe(subjects.result("simulated", "*", "*", "*"), {
  callback: (_, { subject }) => {
    const id = subject.slice(subject.lastIndexOf(".") + 1);
    const from = sent.get(id);
    if (from === undefined) return;
    sent.delete(id);
    latencies.push(performance.now() - from);
    onResult?.();
  },
});

/** Submits one session. Half of the sessions run in the background; their exits are published to the exit stream. */
async function ask(): Promise<void> {
  const id = randomUUID();
  const request = { command: "make -C shop test", cwd: ".", env: { CI: "1" }, sandbox: "workspace-write" };
  const work = {
    version: 1,
    id,
    attempt: 1,
    agent: "builder",
    gateway: "simulated",
    background: Math.random() < 0.5,
    request,
  };
  sent.set(id, performance.now());
  await js.publish(subjects.work("any", "builder"), JSON.stringify(work), { msgID: id });
}

async function atRate(what: string, perSecond: number): Promise<void> {
  latencies = [];
  sent.clear();
  const before = await read();
  const end = Date.now() + SECONDS * 1000;
  const from = Date.now();
  for (let asked = 0; Date.now() < end; asked++) {
    const due = from + (asked * 1000) / perSecond;
    if (due > Date.now()) await sleep(due - Date.now());
    ask().catch(() => {});
  }
  const after = await read();
  await settle();
  report(what, before, after, latencies, sent.size);
}

/** Keeps a fixed number of sessions in flight. */
async function flood(onTheWay: number): Promise<void> {
  latencies = [];
  sent.clear();
  const before = await read();
  let going = true;
  onResult = () => {
    if (going) ask().catch(() => {});
  };
  for (let each = 0; each < onTheWay; each++) await ask();
  await sleep(SECONDS * 1000);
  const after = await read();
  going = false;
  const counted = [...latencies];
  await settle();
  onResult = null;
  report(`highest rate (${onTheWay} in flight)`, before, after, counted, sent.size);
}

async function settle(): Promise<void> {
  for (let waited = 0; sent.size > 0 && waited < 100; waited++) await sleep(100);
}

const joining = await read();
const script = fileURLToPath(new URL("simulated-workers.ts", import.meta.url));
const each = Math.ceil(WORKERS / PROCESSES);
const children = Array.from({ length: PROCESSES }, (_, index) => {
  const count = Math.min(each, WORKERS - index * each);
  const args = [script, urls.join(","), index * each, count, BEAT_MS, values["own-queues"]].map(String);
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
});
try {
  const joined = await Promise.all(
    children.map(async (child) => {
      for await (const line of createInterface({ input: child.stdout }))
        return JSON.parse(line) as { timeouts: number };
      throw new Error("a worker process exited early");
    }),
  );
  const timeouts = joined.reduce((sum, each) => sum + each.timeouts, 0);
  const took = ((Date.now() - joining.atMs) / 1000).toFixed(1);
  report(`${WORKERS} workers join in ${took} s, ${timeouts} timeouts`, joining, await read(), [], 0);
  await sleep(2000);
  const idle = await read();
  await sleep(SECONDS * 1000);
  report(`${WORKERS} workers idle`, idle, await read(), [], 0);
  await atRate("a million sessions a day", A_MILLION_A_DAY);
  await atRate("ten million sessions a day", 10 * A_MILLION_A_DAY);
  await flood(64);
} finally {
  for (const child of children) child.kill("SIGKILL");
  await connection.close();
  for (const server of servers) await server.close();
}
