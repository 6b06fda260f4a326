import type { Gateway } from "../../src/index.ts";
import { atLeast, atMost, percentile } from "../measure.ts";
import type { BenchResult } from "../result.ts";
import { rawPty } from "./node-pty.ts";

const MEGABYTES = 100;
/** Lines like those of a build. The terminal turns each line feed into two bytes. */
const FLOOD = `yes 'gcc -O2 -Wall -c src/some/file.c -o build/some/file.o  # and some more of it' | head -c ${MEGABYTES}000000`;

/** Measures the capture rate of a large output on a terminal, and the memory growth. */
export async function flood(gateway: Gateway, rounds: number): Promise<BenchResult[]> {
  const rates: [number[], number[]] = [[], []];
  const growth: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = process.memoryUsage.rss();
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 20);
    const from = performance.now();
    const session = await gateway.start({ command: FLOOD, pty: true, diskCap: 0, timeoutMs: 0 });
    const { streams } = await session.wait();
    rates[0].push((streams.output?.bytes ?? 0) / 1e3 / (performance.now() - from));
    clearInterval(watch);
    growth.push((peak - before) / 1048576);
    await session.remove();
    rates[1].push(await rawRate());
  }
  const name = `${MEGABYTES} MB of output on a terminal captured`;
  const [ours, peer] = rates.map((samples) => percentile(samples, 0.5));
  return [
    atLeast(1, { name, ours: ours ?? 0, peer: "node-pty", peerValue: peer ?? 0, unit: "MB/s" }),
    atMost(32, {
      name: `${name}: gateway RSS growth`,
      ours: Math.max(...growth),
      peer: "",
      peerValue: null,
      unit: "MiB",
    }),
  ];
}

async function rawRate(): Promise<number> {
  const from = performance.now();
  const raw = rawPty(FLOOD);
  let bytes = 0;
  const stop = raw.onData((data) => {
    bytes += data.length;
  });
  await raw.ended;
  stop();
  return bytes / 1e3 / (performance.now() - from);
}
