import { createSignal, onCleanup } from "solid-js";
import type { ProcessInfo } from "../../../../../src/core/gateway.ts";
import type { ResourceUsage } from "../../../../../src/core/result.ts";
import { get } from "../../../api/client.ts";

const EVERY_MS = 1000;
/** The number of samples kept, enough for 30 minutes. */
const MOST = 1800;

export interface Sample {
  /** Seconds since the epoch, the unit of the charts. */
  at: number;
  cpuPercent: number;
  memoryBytes: number;
  readPerSecond: number;
  writtenPerSecond: number;
}

interface UsageAnswer {
  usage: ResourceUsage | null;
  processes: ProcessInfo[];
}

export interface Sampler {
  samples: () => Sample[];
  processes: () => ProcessInfo[];
  usage: () => ResourceUsage | null;
}

/** Measures a running session once a second while its page is open. */
export function createSampler(id: string, live: () => boolean): Sampler {
  const [samples, setSamples] = createSignal<Sample[]>([]);
  const [processes, setProcesses] = createSignal<ProcessInfo[]>([]);
  const [usage, setUsage] = createSignal<ResourceUsage | null>(null);
  let last: { at: number; usage: ResourceUsage } | null = null;
  let timer = 0;
  let gone = false;

  async function poll(): Promise<void> {
    const answer = await get<UsageAnswer>(`/v1/sessions/${encodeURIComponent(id)}/usage`).catch(() => null);
    if (gone) return;
    if (answer) note(answer);
    // Polling continues after the session has ended until no process is left, to get the final figures.
    if (live()) timer = window.setTimeout(() => void poll(), EVERY_MS);
    else if (answer && answer.processes.length > 0) timer = window.setTimeout(() => void poll(), EVERY_MS);
  }

  function note({ usage: now, processes: found }: UsageAnswer): void {
    setProcesses(found);
    setUsage(now);
    if (!now || !live()) return;
    const at = Date.now() / 1000;
    const past = last;
    last = { at, usage: now };
    if (!past || at - past.at < 0.2) return;
    const each = (from: number, to: number) => Math.max(0, (to - from) / (at - past.at));
    const sample = {
      at,
      cpuPercent: each(past.usage.cpuMs, now.cpuMs) / 10,
      memoryBytes: found.reduce((sum, process) => sum + process.memoryBytes, 0),
      readPerSecond: each(past.usage.ioReadBytes, now.ioReadBytes),
      writtenPerSecond: each(past.usage.ioWriteBytes, now.ioWriteBytes),
    };
    setSamples((all) => [...all.slice(1 - MOST), sample]);
  }

  void poll();
  onCleanup(() => {
    gone = true;
    window.clearTimeout(timer);
  });
  return { samples, processes, usage };
}
