import { setImmediate } from "node:timers/promises";
import type { Gateway } from "../../../gateway/gateway.ts";
import type { AuditEntry } from "../../../store/audit-entry.ts";
import { Histogram } from "./histogram.ts";
import { counters, type Metric } from "./prometheus.ts";

const AT_A_STRETCH = 500;
/** What is left is counted when it is asked for next. */
const MOST_AT_ONCE = 100_000;
const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120, 600, 3600];

/** What became of commands and approvals since the service started, through whichever gateway: the audit has them all. */
export class AuditCounts {
  readonly #gateway: Gateway;
  readonly #runs = new Map<string, number>();
  readonly #ends = new Map<string, number>();
  readonly #approvals = new Map<string, number>();
  readonly #durations = new Histogram(SECONDS);
  #sequence: number;
  #counting: Promise<void> | null = null;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    this.#sequence = gateway.changes.head().audit;
  }

  async metrics(): Promise<Metric[]> {
    this.#counting ??= this.#count().finally(() => {
      this.#counting = null;
    });
    await this.#counting;
    return [
      counters("sallyport_commands_total", "Commands asked for, by what was decided.", "outcome", this.#runs),
      counters("sallyport_command_ends_total", "Commands that ended, by how.", "status", this.#ends),
      counters("sallyport_approvals_total", "What happened to approvals.", "outcome", this.#approvals),
      {
        name: "sallyport_command_duration_seconds",
        type: "histogram",
        help: "How long commands ran that ended.",
        samples: this.#durations.samples(),
      },
    ];
  }

  async #count(): Promise<void> {
    for (let read = 0; read < MOST_AT_ONCE; read += AT_A_STRETCH) {
      const entries = this.#gateway.audit.after(this.#sequence, {}, AT_A_STRETCH);
      for (const entry of entries) this.#note(entry);
      this.#sequence = entries.at(-1)?.seq ?? this.#sequence;
      if (entries.length < AT_A_STRETCH) return;
      await setImmediate();
    }
  }

  #note({ kind, outcome, detail }: AuditEntry): void {
    if (kind === "run") increase(this.#runs, outcome);
    else if (kind === "approval") increase(this.#approvals, outcome);
    else if (kind === "exit") {
      increase(this.#ends, outcome);
      const { durationMs } = detail as { durationMs?: unknown };
      if (typeof durationMs === "number") this.#durations.add(durationMs / 1000);
    }
  }
}

function increase(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
