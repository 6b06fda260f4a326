import { readdirSync, readFileSync } from "node:fs";
import type { ProcessInfo } from "../core/gateway.ts";
import type { ResourceUsage } from "../core/result.ts";
import type { ExitRecord } from "../executor/execution.ts";

/** The kernel counts CPU in ticks of 1/100 s on every Linux there is. */
const MS_PER_TICK = 10;
const PAGE_BYTES = 4096;
/** A tree is looked at as it is; one that grows meanwhile does not keep us forever. */
const MOST_PROCESSES = 10_000;

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null; // it ended meanwhile
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
  readBytes: number;
  writeBytes: number;
}

function sample(pid: number): Sample | null {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The name may hold spaces and parentheses: what counts follows the last one.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const number = (index: number) => Number(fields[index] ?? 0);
  const io = read(`/proc/${pid}/io`) ?? "";
  const command = (read(`/proc/${pid}/cmdline`) ?? "").split("\0").filter(Boolean).join(" ");
  return {
    pid,
    ppid: number(1),
    state: fields[0] ?? "?",
    command: command || stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")")),
    // Its own time and that of the children it has waited for.
    cpuMs: (number(11) + number(12) + number(13) + number(14)) * MS_PER_TICK,
    memoryBytes: number(21) * PAGE_BYTES,
    readBytes: Number(/rchar: (\d+)/.exec(io)?.[1] ?? 0),
    writeBytes: Number(/wchar: (\d+)/.exec(io)?.[1] ?? 0),
  };
}

/** Every process of a command (null: all below its keeper), and what they use together right now. */
export function liveUsage(keeperPid: number, own: number[] | null): { usage: ResourceUsage; processes: ProcessInfo[] } {
  const usage: ResourceUsage = { cpuMs: 0, memoryPeakBytes: 0, ioReadBytes: 0, ioWriteBytes: 0 };
  const processes: ProcessInfo[] = [];
  const queue = own ?? childrenOf(keeperPid);
  const counted = new Set<number>();
  for (let at = 0; at < queue.length && at < MOST_PROCESSES; at++) {
    const pid = queue[at] as number;
    const seen = counted.has(pid) ? null : sample(pid);
    if (!seen) continue;
    counted.add(pid);
    const { readBytes, writeBytes, ...info } = seen;
    processes.push(info);
    usage.cpuMs += seen.cpuMs;
    usage.memoryPeakBytes += seen.memoryBytes;
    usage.ioReadBytes += readBytes;
    usage.ioWriteBytes += writeBytes;
    queue.push(...childrenOf(pid));
  }
  return { usage, processes };
}

/** What a finished command used in all. */
export function finalUsage(record: ExitRecord): ResourceUsage | null {
  // Nothing runs in no memory at all: an executor that cannot measure says 0.
  if (record.reason === "failed" || record.maxRssKib === 0) return null;
  return {
    // Of processes nobody waited for only their group knows; a group that was used for a part knows less.
    cpuMs: Math.round(Math.max(record.treeCpuUs ?? 0, record.userUs + record.systemUs) / 1000),
    // A group counts pages that others read first as theirs, so that a small tree can seem smaller than its largest process.
    memoryPeakBytes: Math.max(record.treePeakBytes ?? 0, record.maxRssKib * 1024),
    ioReadBytes: record.readBytes,
    ioWriteBytes: record.writeBytes,
  };
}
