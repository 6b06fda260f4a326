import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Operation, operation, READERS } from "../operation.ts";
import type { Service } from "../service.ts";
import { AuditCounts } from "./audit-counts.ts";
import { counter, gauge, METRICS_TYPE, type Metric, metricsText } from "./prometheus.ts";

/** What is open now. */
export interface OpenCounts {
  streams(): number;
  terminals(): number;
  /** Event streams that ended because their reader was too slow. */
  cut(): number;
  traces(): Metric[];
}

/** Numbers for Prometheus and whoever reads its format. */
export function metricsOperation(service: Service, open: OpenCounts): Operation & { stop(): void } {
  const counts = new AuditCounts(service.gateway);
  // Measured from the first scrape on: a service that nobody watches is not woken for it.
  const delay = monitorEventLoopDelay({ resolution: 20 });
  const asked = operation({
    method: "GET",
    path: "/metrics",
    id: "metrics",
    summary: "Numbers about commands, approvals and the service itself, in Prometheus' format",
    roles: READERS,
    answer: { media: METRICS_TYPE, description: "Prometheus text format" },
    handle: async () => {
      const metrics = [...(await counts.metrics()), ...now(service, open), ...processMetrics(delay.percentile(99))];
      delay.enable();
      delay.reset();
      return new Response(metricsText(metrics), { headers: { "content-type": METRICS_TYPE } });
    },
  });
  return Object.assign(asked, { stop: () => delay.disable() });
}

function now({ gateway, version, requests }: Service, { streams, terminals, cut, traces }: OpenCounts): Metric[] {
  const pending = gateway.approvals.list({ status: "pending", limit: 10_000 }).length;
  return [
    gauge("sallyport_build_info", "The version that runs.", 1, { version }),
    gauge("sallyport_sessions_live", "Sessions with living processes.", gateway.count({ live: true })),
    gauge("sallyport_sessions_kept", "Sessions that are remembered, also ended ones.", gateway.count()),
    gauge("sallyport_approvals_pending", "Approvals that wait for a person.", pending),
    counter("sallyport_audit_entries_total", "Entries of the audit, ever.", gateway.changes.head().audit),
    gauge("sallyport_event_streams", "Event streams and followed logs that are open.", streams()),
    gauge("sallyport_terminals", "Terminals that are looked at.", terminals()),
    counter("sallyport_event_streams_cut_total", "Event streams ended because their reader was too slow.", cut()),
    ...traces(),
    ...requests.metrics(),
  ];
}

function processMetrics(delayNs: number): Metric[] {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const started = Date.now() / 1000 - process.uptime();
  return [
    counter("process_cpu_seconds_total", "Processor time of the service, not of commands.", (user + system) / 1e6),
    gauge("process_resident_memory_bytes", "Memory of the service.", rss),
    gauge("process_start_time_seconds", "When the service started, since the epoch.", started),
    gauge("nodejs_heap_used_bytes", "Memory of its objects.", heapUsed),
    gauge("nodejs_eventloop_lag_p99_seconds", "Since the last scrape.", Number.isNaN(delayNs) ? 0 : delayNs / 1e9),
  ];
}
