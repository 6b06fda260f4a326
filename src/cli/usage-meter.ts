import type { ProcessInfo, SessionHandle } from "../core/gateway.ts";
import type { UsageRow } from "./tables/usage.ts";

export type Measured = UsageRow & { processes: ProcessInfo[] };

/** Measures sessions again and again; a share of the processor is what was used between two measurements. */
export class UsageMeter {
  #before = new Map<string, { atMs: number; cpuMs: number }>();

  measure(sessions: SessionHandle[]): Measured[] {
    const atMs = performance.now();
    const rows = sessions.map((session) => this.#measureOne(session, atMs));
    this.#before = new Map(rows.map(({ id, cpuMs }) => [id, { atMs, cpuMs }]));
    return rows;
  }

  #measureOne(session: SessionHandle, atMs: number): Measured {
    const { usage, processes } = session.usage();
    const { status, limits } = session.info();
    const before = this.#before.get(session.id);
    const cpuMs = usage?.cpuMs ?? 0;
    const memoryBytes = processes.reduce((sum, each) => sum + each.memoryBytes, 0);
    const share = before && processes.length > 0 ? (100 * (cpuMs - before.cpuMs)) / (atMs - before.atMs) : null;
    return {
      id: session.id,
      name: session.name,
      status,
      // The kernel counts in ticks of 10 ms, so a short interval can come out a little below nothing.
      cpuPercent: share === null ? null : Math.max(0, Math.round(share * 10) / 10),
      cpuMs,
      memoryBytes,
      memoryPeakBytes: Math.max(usage?.memoryPeakBytes ?? 0, memoryBytes),
      processCount: processes.length,
      ioReadBytes: usage?.ioReadBytes ?? 0,
      ioWriteBytes: usage?.ioWriteBytes ?? 0,
      limits,
      processes,
    };
  }
}
