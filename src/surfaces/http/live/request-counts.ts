import { Histogram } from "./histogram.ts";
import type { Metric } from "./prometheus.ts";

const SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60];

/** What was asked of the service, by operation: names are our own, so that nobody can make them many. */
export class RequestCounts {
  readonly #counts = new Map<string, { operation: string; status: number; count: number }>();
  readonly #durations = new Map<string, Histogram>();

  note(operation: string, status: number, durationMs: number): void {
    const key = `${operation} ${status}`;
    const known = this.#counts.get(key) ?? { operation, status, count: 0 };
    known.count++;
    this.#counts.set(key, known);
    let histogram = this.#durations.get(operation);
    if (!histogram) {
      histogram = new Histogram(SECONDS);
      this.#durations.set(operation, histogram);
    }
    histogram.add(durationMs / 1000);
  }

  metrics(): Metric[] {
    return [
      {
        name: "sallyport_http_requests_total",
        type: "counter",
        help: "Requests answered, by operation and status.",
        samples: [...this.#counts.values()].map(({ operation, status, count }) => ({
          labels: { operation, status: String(status) },
          value: count,
        })),
      },
      {
        name: "sallyport_http_request_duration_seconds",
        type: "histogram",
        help: "From a request to its answer, or to the beginning of a stream.",
        samples: [...this.#durations].flatMap(([operation, histogram]) => histogram.samples({ operation })),
      },
    ];
  }
}
