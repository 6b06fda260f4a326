import { readdirSync, readFileSync } from "node:fs";
import type { ProcessInfo } from "../core/gateway.ts";
import type { ResourceUsage } from "../core/result.ts";
import type { ExitRecord } from "../executor/execution.ts";

/** Linux reports CPU time in ticks of 1/100 s (USER_HZ) on all supported architectures. */
const MS_PER_TICK = 10;
const PAGE_BYTES = 4096;
/** The maximum number of processes to visit. Without it, a tree that forks faster than it is read would never end. */
const MOST_PROCESSES = 10_000;

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null; // The process has ended.
  }
}

function childrenOf(pid: number): number[] {
  let tasks: string[];
  try {
    tasks = readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
  return tasks.flatMap((task) =>
    (read(`/proc/${pid}/task/${task}/children`) ?? "").split(" ").filter(Boolean).map(Number),
  );
}

interface Sample extends ProcessInfo {
  /** The part of the memory that other processes may share. */
  sharedBytes: number;
  readBytes: number;
  writeBytes: number;
}

function sample(pid: number): Sample | null {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The name may contain spaces and parentheses; the other fields follow the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const number = (index: number) => Number(fields[index] ?? 0);
  const io = read(`/proc/${pid}/io`) ?? "";
  const [, , shared = "0"] = (read(`/proc/${pid}/statm`) ?? "").split(" ");
  const command = (read(`/proc/${pid}/cmdline`) ?? "").split("\0").filter(Boolean).join(" ");
  return {
    pid,
    ppid: number(1),
    state: fields[0] ?? "?",
    command: command || stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")")),
    // The process's own time and that of the children it has waited for.
    cpuMs: (number(11) + number(12) + number(13) + number(14)) * MS_PER_TICK,
    memoryBytes: number(21) * PAGE_BYTES,
    sharedBytes: Number(shared) * PAGE_BYTES,
    readBytes: Number(/rchar: (\d+)/.exec(io)?.[1] ?? 0),
    writeBytes: Number(/wchar: (\d+)/.exec(io)?.[1] ?? 0),
  };
}

/** Returns a command's processes (`own`, or all descendants of its keeper when null) and their current total usage. */
export function liveUsage(keeperPid: number, own: number[] | null): { usage: ResourceUsage; processes: ProcessInfo[] } {
  const usage: ResourceUsage = { cpuMs: 0, memoryPeakBytes: 0, ioReadBytes: 0, ioWriteBytes: 0 };
  const processes: ProcessInfo[] = [];
  const queue = own ?? childrenOf(keeperPid);
  let mostShared = 0;
  const counted = new Set<number>();
  for (let at = 0; at < queue.length && at < MOST_PROCESSES; at++) {
    const pid = queue[at] as number;
    const seen = counted.has(pid) ? null : sample(pid);
    if (!seen) continue;
    counted.add(pid);
    const { readBytes, writeBytes, sharedBytes, ...info } = seen;
    processes.push(info);
    usage.cpuMs += seen.cpuMs;
    // Pages that may be shared count once, as the keeper counts them.
    usage.memoryPeakBytes += Math.max(0, seen.memoryBytes - sharedBytes);
    mostShared = Math.max(mostShared, sharedBytes);
    usage.ioReadBytes += readBytes;
    usage.ioWriteBytes += writeBytes;
    queue.push(...childrenOf(pid));
  }
  usage.memoryPeakBytes += mostShared;
  return { usage, processes };
}

const MAX_SEEN = 1000;

/** The usage that was last reported for each running session. */
const reported = new Map<string, ResourceUsage>();

/** Returns the usage of a running session, which does not decrease when one of its processes ends. */
export function highestUsage(id: string, usage: ResourceUsage): ResourceUsage {
  const before = reported.get(id);
  const highest = before
    ? {
        cpuMs: Math.max(before.cpuMs, usage.cpuMs),
        memoryPeakBytes: Math.max(before.memoryPeakBytes, usage.memoryPeakBytes),
        ioReadBytes: Math.max(before.ioReadBytes, usage.ioReadBytes),
        ioWriteBytes: Math.max(before.ioWriteBytes, usage.ioWriteBytes),
      }
    : usage;
  reported.delete(id);
  reported.set(id, highest);
  const [oldest] = reported.keys();
  if (reported.size > MAX_SEEN && oldest !== undefined) reported.delete(oldest);
  return highest;
}

/** Returns the total usage of a finished command; null when it is unknown. */
export function finalUsage(record: ExitRecord): ResourceUsage | null {
  // An executor that cannot measure memory reports 0.
  if (record.reason === "failed" || record.maxRssKib === 0) return null;
  return {
    // Only the cgroup counts processes that were never waited for. A cgroup that was joined late counts less.
    cpuMs: Math.round(Math.max(record.treeCpuUs ?? 0, record.userUs + record.systemUs) / 1000),
    // A cgroup does not count pages that another group read first, so it may report less than the largest process uses.
    memoryPeakBytes: Math.max(record.treePeakBytes ?? 0, record.maxRssKib * 1024),
    ioReadBytes: record.readBytes,
    ioWriteBytes: record.writeBytes,
  };
}
