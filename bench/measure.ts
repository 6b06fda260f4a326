import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GatewayOptions, openGateway } from "../src/index.ts";
import type { BenchResult } from "./result.ts";

/** Returns the value below which the given share of the samples lies. */
export function percentile(samples: number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A function that is measured as a whole, or one that returns the time in ms that counts, such as that until an answer. */
export type Subject = (() => Promise<unknown>) | { timed: () => Promise<number> };

/**
 * Measures the subjects in turn, in a new random order in each round, so that other work on the machine affects all of
 * them equally. Returns the samples of each in ms. `inARow` is the number of consecutive calls to one subject, like the
 * commands of one agent.
 */
export async function takeTurns(rounds: number, subjects: Subject[], inARow = 1): Promise<number[][]> {
  const samples = subjects.map(() => [] as number[]);
  for (let round = -Math.ceil(rounds / 10); round < rounds; round++) {
    for (const [index, subject] of shuffled([...subjects.entries()])) {
      for (let each = 0; each < inARow; each++) {
        const tookMs = typeof subject === "function" ? await duration(subject) : await subject.timed();
        if (round >= 0) samples[index]?.push(tookMs);
      }
    }
  }
  return samples;
}

async function duration(subject: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await subject();
  return performance.now() - from;
}

export function shuffled<T>(items: T[]): T[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [items[last], items[other]] = [items[other] as T, items[last] as T];
  }
  return items;
}

/** High quotas; all other settings are the defaults. */
export const UNLIMITED: GatewayOptions = {
  configuration: null,
  policy: { limits: { sessions: 10_000, startsPerMinute: 1_000_000 } },
};

/** Opens a gateway on a new state folder. `leave` closes it and removes everything. */
export async function benchGateway(options: GatewayOptions = {}) {
  const state = mkdtempSync(join(tmpdir(), "sallyport-bench-"));
  const gateway = await openGateway({ state, ...UNLIMITED, ...options });
  return {
    gateway,
    state,
    async leave() {
      await gateway.close();
      stopZygote(state);
      rmSync(state, { recursive: true, force: true });
    },
  };
}

export function zygotePid(state: string): number | null {
  const title = `keeper: zygote ${state}`;
  for (const pid of processes()) if (titleOf(pid).startsWith(title)) return pid;
  return null;
}

function stopZygote(state: string): void {
  const pid = zygotePid(state);
  if (pid !== null) process.kill(pid, "SIGTERM");
}

function processes(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8");
  return children.split(" ").filter(Boolean).map(Number);
}

function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** Returns a number in KiB from a /proc file such as `status` or `smaps_rollup`. */
export function procKib(pid: number | "self", file: string, field: string): number {
  const text = readFileSync(`/proc/${pid}/${file}`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? Number.NaN);
}

/** Returns a row whose ratio must not exceed the target. */
export function atMost(target: number, row: Omit<BenchResult, "ratio" | "target" | "pass">): BenchResult {
  const ratio = row.peerValue === null ? row.ours : row.ours / row.peerValue;
  return {
    ...row,
    ratio,
    target: row.peerValue === null ? `<= ${target} ${row.unit}` : `<= ${target} x`,
    pass: ratio <= target,
  };
}

/** Returns a row whose ratio must reach the target. */
export function atLeast(target: number, row: Omit<BenchResult, "ratio" | "target" | "pass">): BenchResult {
  const ratio = row.peerValue === null ? row.ours : row.ours / row.peerValue;
  return {
    ...row,
    ratio,
    target: row.peerValue === null ? `>= ${target} ${row.unit}` : `>= ${target} x`,
    pass: ratio >= target,
  };
}
