import type { Gateway } from "../../gateway/gateway.ts";
import { type Measured, UsageMeter } from "../../session/usage-meter.ts";

export interface Stats {
  /** Sessions with living processes, and requests that wait for a person. */
  running: number;
  pending: number;
  /** Sessions that are kept. */
  total: number;
  sessions: { id: string; agent: string; cpuPercent: number | null; memoryBytes: number; processes: number }[];
}

/** Looking at every process costs something: no more often than this, whoever asks. */
const LEAST_MS = 1000;
const MOST_MEASURED = 1000;

/** What all sessions together consume; everybody who watches shares the measurement. */
export class StatsMeter {
  readonly #gateway: Gateway;
  readonly #meter = new UsageMeter();
  #measured: { atMs: number; rows: (Measured & { agent: string })[] } | null = null;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  /** As everybody sees it, or as one agent does: its own. */
  now(agent: string | null = null): Stats {
    const mine = agent === null ? {} : { agent };
    const rows = this.#rows().filter((row) => agent === null || row.agent === agent);
    return {
      running: this.#gateway.count({ live: true, ...mine }),
      pending: this.#gateway.approvals.list({ status: "pending", limit: 1000, ...mine }).length,
      total: this.#gateway.count(mine),
      sessions: rows.map(({ id, agent, cpuPercent, memoryBytes, processCount }) => {
        return { id, agent, cpuPercent, memoryBytes, processes: processCount };
      }),
    };
  }

  #rows(): (Measured & { agent: string })[] {
    const nowMs = performance.now();
    if (this.#measured && nowMs - this.#measured.atMs < LEAST_MS) return this.#measured.rows;
    const live = this.#gateway.list({ live: true, limit: MOST_MEASURED });
    const agents = new Map(live.map(({ id, agent }) => [id, agent]));
    const rows = this.#meter.measure(live.map(({ id }) => this.#gateway.session(id)));
    this.#measured = { atMs: nowMs, rows: rows.map((row) => ({ ...row, agent: agents.get(row.id) ?? "" })) };
    return this.#measured.rows;
  }
}
