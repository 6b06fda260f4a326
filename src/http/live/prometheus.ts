// Prometheus text format, version 0.0.4.

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type Labels = Readonly<Record<string, string>>;

export interface Metric {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  /** Samples. Those of a histogram have the suffixes `_bucket`, `_sum` and `_count`. */
  samples: { labels?: Labels; value: number; suffix?: string }[];
}

export function metricsText(metrics: readonly Metric[]): string {
  return metrics.map(metricText).join("");
}

function metricText({ name, type, help, samples }: Metric): string {
  const lines = samples.map(
    ({ labels, value, suffix = "" }) => `${name}${suffix}${labelsText(labels)} ${numberText(value)}\n`,
  );
  return `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

/** Formats labels. Values are escaped, because they may come from agents. */
function labelsText(labels: Labels | undefined): string {
  const entries = Object.entries(labels ?? {});
  if (entries.length === 0) return "";
  const escaped = (value: string) => value.replace(/["\\\n]/g, (each) => (each === "\n" ? "\\n" : `\\${each}`));
  return `{${entries.map(([name, value]) => `${name}="${escaped(value)}"`).join(",")}}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return value === Number.POSITIVE_INFINITY ? "+Inf" : value === Number.NEGATIVE_INFINITY ? "-Inf" : "NaN";
}

export function gauge(name: string, help: string, value: number, labels?: Labels): Metric {
  return { name, type: "gauge", help, samples: [labels ? { labels, value } : { value }] };
}

export function counter(name: string, help: string, value: number): Metric {
  return { name, type: "counter", help, samples: [{ value }] };
}

/** Returns a metric with one counter for each value of a label. */
export function counters(name: string, help: string, label: string, counts: ReadonlyMap<string, number>): Metric {
  const samples = [...counts].map(([each, value]) => ({ labels: { [label]: each }, value }));
  return { name, type: "counter", help, samples };
}

/** Counts values by upper bounds. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  add(value: number): void {
    const index = this.#bounds.findIndex((bound) => value <= bound);
    if (index >= 0) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += value;
    this.#count++;
  }

  samples(labels: Labels = {}): Metric["samples"] {
    let below = 0;
    const buckets = this.#bounds.map((bound, index) => {
      below += this.#counts[index] ?? 0;
      return { suffix: "_bucket", labels: { ...labels, le: String(bound) }, value: below };
    });
    return [
      ...buckets,
      { suffix: "_bucket", labels: { ...labels, le: "+Inf" }, value: this.#count },
      { suffix: "_sum", labels, value: this.#sum },
      { suffix: "_count", labels, value: this.#count },
    ];
  }
}

const REQUEST_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60];

/** Counts requests by operation and status. Operations are a fixed set, so a client cannot add label values. */
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
      histogram = new Histogram(REQUEST_SECONDS);
      this.#durations.set(operation, histogram);
    }
    histogram.add(durationMs / 1000);
  }

  metrics(): Metric[] {
    return [
      {
        name: "sallyport_http_requests_total",
        type: "counter",
        help: "HTTP requests, by operation and status.",
        samples: [...this.#counts.values()].map(({ operation, status, count }) => ({
          labels: { operation, status: String(status) },
          value: count,
        })),
      },
      {
        name: "sallyport_http_request_duration_seconds",
        type: "histogram",
        help: "Time from a request to its response, or to the start of a stream.",
        samples: [...this.#durations].flatMap(([operation, histogram]) => histogram.samples({ operation })),
      },
    ];
  }
}
