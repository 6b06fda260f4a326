import { setTimeout } from "node:timers/promises";
import { type Gateway, openGateway } from "../../src/index.ts";
import { atMost, percentile, procKib, takeTurns, UNLIMITED } from "../measure.ts";
import type { BenchResult } from "../result.ts";
import { ask, listen, type OpenStream, view } from "./clients.ts";
import { installed } from "./installed.ts";
import { BenchService } from "./service.ts";

const STREAMS = 500;
const TERMINALS = 50;
const STREAMS_EACH = 50;
const TERMINALS_EACH = 25;
const GIBIBYTE = 1 << 30;

interface Stage {
  service: BenchService;
  gateway: Gateway;
  headers: Record<string, string>;
  quick: boolean;
}

export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  const { entry, remove } = installed();
  const service = new BenchService(entry);
  try {
    await service.start();
    const gateway = await openGateway({ state: service.state, workspace: service.workspace, ...UNLIMITED });
    const stage: Stage = { service, gateway, headers: service.caller("bench"), quick };
    try {
      return [await runs(stage), ...(await latencies(stage)), await largeLog(stage), ...(await many(stage))];
    } finally {
      for (const { id } of gateway.list({ live: true, limit: 1000 })) await gateway.session(id).kill({ graceMs: 0 });
      await service.stop();
      await gateway.close();
    }
  } finally {
    service.remove();
    remove();
  }
}

async function runs({ service, gateway, headers, quick }: Stage): Promise<BenchResult> {
  const request = { command: "/bin/true", args: [] };
  const [rest = [], library = []] = await takeTurns(quick ? 100 : 600, [
    () => ask(`${service.url}/v1/sessions`, headers, request),
    () => gateway.run(request),
  ]);
  const [ours, peerValue] = [percentile(rest, 0.5), percentile(library, 0.5)];
  return atMost(1.6, { name: "REST run of `true`, p50", ours, peer: "gateway.run", peerValue, unit: "ms" });
}

/** Measures the time from when a program prints a line until a client has read it. */
async function latencies({ service, gateway, headers, quick }: Stage): Promise<BenchResult[]> {
  const lines = quick ? 100 : 500;
  const script = `for (let n = 0; n < ${lines}; n++) { console.log(Date.now() + performance.now() % 1); await new Promise(r => setTimeout(r, 10)); }`;
  const session = await gateway.start({ command: process.execPath, args: ["--input-type=module", "-e", script] });
  const samples: number[] = [];
  const ended = Promise.withResolvers<void>();
  const url = `${service.url}/v1/sessions/${session.id}/follow`;
  const stream = await listen(url, headers, (type, data) => {
    const now = Date.now();
    if (type === "end") ended.resolve();
    if (type !== "chunk") return;
    for (const line of (JSON.parse(data).text as string).split("\n"))
      if (line) samples.push(now - Math.floor(Number(line)));
  });
  await ended.promise;
  stream.close();
  return [
    atMost(50, {
      name: "output byte to browser event, p95",
      ours: percentile(samples, 0.95),
      peer: "",
      peerValue: null,
      unit: "ms",
    }),
    await startToEvent({ service, gateway, headers, quick }),
  ];
}

/** Measures commands that another process runs; the service learns of them from the database. */
async function startToEvent({ service, gateway, headers, quick }: Stage): Promise<BenchResult> {
  const samples: number[] = [];
  let begun = 0;
  let told = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  const stream = await listen(`${service.url}/v1/events`, headers, (type, data) => {
    if (type === "ready") ready.resolve();
    if (type !== "session" || JSON.parse(data).status !== "completed") return;
    samples.push(performance.now() - begun);
    told.resolve();
  });
  await ready.promise;
  for (let n = 0; n < (quick ? 20 : 100); n++) {
    told = Promise.withResolvers();
    const { status } = await gateway.run({ command: "true" });
    if (status !== "completed") throw new Error(`\`true\` was ${status}`);
    begun = performance.now();
    await told.promise;
  }
  stream.close();
  const name = "exit of another process's command to browser event, p95";
  const ours = percentile(samples, 0.95);
  return { name, ours, peer: "", peerValue: null, unit: "ms", ratio: null, target: "", pass: null };
}

/** Reads the first, the last and some middle lines of a log. */
async function largeLog({ service, gateway, headers, quick }: Stage): Promise<BenchResult> {
  const bytes = quick ? GIBIBYTE / 16 : GIBIBYTE;
  const line = "y".repeat(63);
  const { id } = await gateway.run({ command: `yes ${line} | head -c ${bytes}`, diskCap: 0, timeoutMs: 600_000 });
  const logs = `${service.url}/v1/sessions/${id}/logs`;
  const places = ["?offset=0&limit=65536", "?tail=200", `?offset=${bytes / 2}&limit=65536`];
  const samples: number[] = [];
  for (let round = 0; round < 5; round++) {
    for (const place of places) {
      const begun = performance.now();
      const answer = JSON.parse(await ask(logs + place, headers));
      samples.push(performance.now() - begun);
      if (answer.totalBytes !== bytes || answer.chunks.length === 0) throw new Error("the log is incomplete");
    }
  }
  await gateway.session(id).remove();
  const name = `first lines of a log of ${quick ? "64 MiB" : "1 GiB"}, slowest`;
  return atMost(300, { name, ours: Math.max(...samples), peer: "", peerValue: null, unit: "ms" });
}

async function many({ service, gateway, quick }: Stage): Promise<BenchResult[]> {
  const [streamCount, terminalCount] = quick ? [100, 10] : [STREAMS, TERMINALS];
  const callers = Array.from({ length: Math.ceil(streamCount / STREAMS_EACH) }, (_, n) => service.caller(`many-${n}`));
  const memory = () => procKib(service.pid, "smaps_rollup", "Pss");
  const before = memory();
  let told = 0;
  const streams: OpenStream[] = [];
  for (let n = 0; n < streamCount; n++) {
    const headers = callers[Math.floor(n / STREAMS_EACH)] ?? {};
    streams.push(
      await listen(`${service.url}/v1/events`, headers, (type, data) => {
        if (type === "session" && data.includes('"name":"told-to-all"')) told++;
      }),
    );
  }
  await setTimeout(2500);
  const withStreams = memory();
  const sockets = [];
  const sessions = await Promise.all(
    Array.from({ length: 10 }, () => gateway.start({ command: "echo here; cat", pty: true })),
  );
  for (let n = 0; n < terminalCount; n++) {
    const { id } = sessions[n % sessions.length] ?? { id: "" };
    const headers = callers[Math.floor(n / TERMINALS_EACH)] ?? {};
    sockets.push(await view(`${service.url}/v1/sessions/${id}/terminal`, headers));
  }
  await setTimeout(2500);
  const withTerminals = memory();
  const begun = performance.now();
  const { id } = await gateway.start({ command: "sleep 60", name: "told-to-all" });
  while (told < streamCount) await setTimeout(1);
  const all = performance.now() - begun;
  await gateway.session(id).kill({ graceMs: 0 });
  for (const stream of streams) stream.close();
  for (const socket of sockets) socket.close();
  const row = (name: string, ours: number, unit: string): BenchResult => ({
    name,
    ours,
    peer: "",
    peerValue: null,
    unit,
    ratio: null,
    target: "",
    pass: null,
  });
  return [
    row(`memory of one of ${streamCount} event streams`, (withStreams - before) / streamCount, "KiB"),
    row(`memory of one of ${terminalCount} terminals`, (withTerminals - withStreams) / terminalCount, "KiB"),
    row(`delivery of a start to all ${streamCount} streams`, all, "ms"),
  ];
}
