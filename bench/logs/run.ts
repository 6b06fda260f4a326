import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LogQuery } from "../../src/core/session.ts";
import { readLog } from "../../src/session/logs/read.ts";
import type { BenchResult } from "../result.ts";
import { writeSession } from "./fixture.ts";

const TARGET = 2;
const LINES = 100;

/** Checks that reading the last 100 lines takes no longer in a log that is a thousand times as long. */
export async function run(options: { quick: boolean }): Promise<BenchResult[]> {
  const rounds = options.quick ? 60 : 400;
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-logs-"));
  try {
    const [large, small] = ["large", "small"].map((name) => join(folder, name)) as [string, string];
    for (const [path, megabytes] of [[large, 1024] as const, [small, 1] as const]) {
      mkdirSync(path);
      writeSession(path, megabytes);
    }
    return [
      await compare("last 100 lines of a 1 GiB log, both streams in order", large, small, { tail: LINES }, rounds),
      await compare(
        "last 100 lines of a 1 GiB log, stdout only",
        large,
        small,
        { tail: LINES, stream: "stdout" },
        rounds,
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(
  name: string,
  large: string,
  small: string,
  query: LogQuery,
  rounds: number,
): Promise<BenchResult> {
  const times = { large: [] as number[], small: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    // Alternate, so that other work on the machine affects both equally.
    times.small.push(await timeOf(small, query));
    times.large.push(await timeOf(large, query));
  }
  const ours = median(times.large);
  const peerValue = median(times.small);
  const ratio = ours / peerValue;
  return {
    name,
    ours,
    peer: "a 1 MiB log",
    peerValue,
    unit: "ms",
    ratio,
    target: `<= ${TARGET} x`,
    pass: ratio <= TARGET,
  };
}

async function timeOf(folder: string, query: LogQuery): Promise<number> {
  const started = performance.now();
  const { text } = await readLog(folder, "apart", query, { live: false });
  const took = performance.now() - started;
  const lines = text.split("\n").length - 1;
  if (lines !== LINES) throw new Error(`expected ${LINES} lines, received ${lines}`);
  return took;
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
