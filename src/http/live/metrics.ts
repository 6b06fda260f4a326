import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import type { AuditEntry } from "../../core/audit.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { type Operation, operation, READERS } from "../operation.ts";
import type { Service } from "../service.ts";
import { counter, counters, gauge, Histogram, METRICS_TYPE, type Metric, metricsText } from "./prometheus.ts";

/** Counters of open connections, and the metrics of the trace exporter. */
interface OpenCounts {
  streams(): number;
  terminals(): number;
  /** Returns the number of event streams that were cut because their client was too slow. */
  cut(): number;
  traces(): Metric[];
}

/** Returns the operation `GET /metrics`. Nothing is collected between scrapes except request counts. */
export function metricsOperation(service: Service, open: OpenCounts): Operation & { stop(): void } {
  const counts = new AuditCounts(service);
  // The first scrape enables the timer, so that a service that is not monitored is not woken up by it.
  const delay = monitorEventLoopDelay({ resolution: 20 });
  const asked = operation({
    method: "GET",
    path: "/metrics",
    id: "metrics",
    summary: "Get metrics in Prometheus format",
    roles: READERS,
    response: { media: METRICS_TYPE, description: "Prometheus text format" },
    handle: async () => {
      const metrics = [
        ...(await counts.metrics()),
        ...serviceMetrics(service, open),
        ...processMetrics(delay.percentile(99)),
      ];
      delay.enable();
      delay.reset();
      return new Response(metricsText(metrics), { headers: { "content-type": METRICS_TYPE } });
    },
  });
  return Object.assign(asked, { stop: () => delay.disable() });
}

function serviceMetrics(
  { gateway, version, requests }: Service,
  { streams, terminals, cut, traces }: OpenCounts,
): Metric[] {
  const pending = gateway.approvals.list({ status: "pending", limit: 10_000 }).length;
  return [
    gauge("sallyport_build_info", "Version of the running service.", 1, { version }),
    gauge("sallyport_sessions_live", "Sessions with running processes.", gateway.count({ live: true })),
    gauge("sallyport_sessions_kept", "All stored sessions, including ended ones.", gateway.count()),
    gauge("sallyport_approvals_pending", "Pending approval requests.", pending),
    counter("sallyport_audit_entries_total", "Entries in the audit log.", gateway.changes.head().audit),
    gauge("sallyport_event_streams", "Open event streams and log streams.", streams()),
    gauge("sallyport_terminals", "Open terminal connections.", terminals()),
    counter("sallyport_event_streams_cut_total", "Event streams closed because the client was too slow.", cut()),
    ...traces(),
    ...requests.metrics(),
  ];
}

function processMetrics(delayNs: number): Metric[] {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const started = Date.now() / 1000 - process.uptime();
  return [
    counter("process_cpu_seconds_total", "CPU time of the service, excluding commands.", (user + system) / 1e6),
    gauge("process_resident_memory_bytes", "Resident memory of the service.", rss),
    gauge("process_start_time_seconds", "Start time of the service, in seconds since the epoch.", started),
    gauge("nodejs_heap_used_bytes", "Heap memory in use.", heapUsed),
    gauge(
      "nodejs_eventloop_lag_p99_seconds",
      "99th percentile of the event loop delay since the last scrape.",
      Number.isNaN(delayNs) ? 0 : delayNs / 1e9,
    ),
  ];
}

const BATCH = 500;
/** The maximum number of entries read per scrape. The next scrape counts the rest. */
const MAX_PER_SCRAPE = 100_000;
const COMMAND_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120, 600, 3600];

/**
 * Counts commands and approvals since the service started. It reads the audit log, which includes those of every
 * gateway on the state folder.
 */
class AuditCounts {
  readonly #gateway: Gateway;
  readonly #runs = new Map<string, number>();
  readonly #ends = new Map<string, number>();
  readonly #approvals = new Map<string, number>();
  readonly #durations = new Histogram(COMMAND_SECONDS);
  #sequence: number;
  #counting: Promise<void> | null = null;

  constructor({ gateway, lastAuditEntry }: Service) {
    this.#gateway = gateway;
    this.#sequence = lastAuditEntry;
  }

  async metrics(): Promise<Metric[]> {
    this.#counting ??= this.#count().finally(() => {
      this.#counting = null;
    });
    await this.#counting;
    return [
      counters("sallyport_commands_total", "Submitted commands, by outcome.", "outcome", this.#runs),
      counters("sallyport_command_ends_total", "Ended commands, by status.", "status", this.#ends),
      counters("sallyport_approvals_total", "Approval events, by outcome.", "outcome", this.#approvals),
      {
        name: "sallyport_command_duration_seconds",
        type: "histogram",
        help: "Duration of ended commands.",
        samples: this.#durations.samples(),
      },
    ];
  }

  async #count(): Promise<void> {
    for (let read = 0; read < MAX_PER_SCRAPE; read += BATCH) {
      const entries = this.#gateway.audit.after(this.#sequence, {}, BATCH);
      for (const entry of entries) this.#note(entry);
      this.#sequence = entries.at(-1)?.seq ?? this.#sequence;
      if (entries.length < BATCH) return;
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
