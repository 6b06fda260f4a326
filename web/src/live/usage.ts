import { createSignal } from "solid-js";
import type { Stats } from "../api/shapes.ts";

/** The number of samples kept per running session: 90 s at one sample every 2 s. */
const SAMPLES = 45;

export interface UsageHistory {
  cpu: number[];
  memory: number[];
}

const histories = new Map<string, UsageHistory>();
const [stats, setStats] = createSignal<Stats | null>(null);
const [version, setVersion] = createSignal(0);

export { stats };

export function noteStats(now: Stats): void {
  const present = new Set(now.sessions.map(({ id }) => id));
  for (const id of histories.keys()) if (!present.has(id)) histories.delete(id);
  for (const { id, cpuPercent, memoryBytes } of now.sessions) {
    const past = histories.get(id) ?? { cpu: [], memory: [] };
    histories.set(id, { cpu: added(past.cpu, cpuPercent), memory: added(past.memory, memoryBytes) });
  }
  setStats(now);
  setVersion((count) => count + 1);
}

const added = (past: number[], value: number): number[] => [...past.slice(1 - SAMPLES), value];

export function usageOf(id: string): UsageHistory | undefined {
  version();
  return histories.get(id);
}
