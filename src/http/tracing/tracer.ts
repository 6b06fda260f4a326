import { setTimeout as sleep } from "node:timers/promises";
import type { Change } from "../../core/gateway.ts";
import type { ChangeFeed } from "../live/change-feed.ts";
import { counter, type Metric } from "../live/prometheus.ts";
import type { Stages, TraceSettings } from "./settings.ts";
import { type Attribute, type Span, spansOf } from "./spans.ts";

const MAX_QUEUED = 4096;
const AT_ONCE = 512;
const EVERY_MS = 2000;
const EXPORT_TIMEOUT_MS = 5000;
/** How long the last export may delay the shutdown of the service, in milliseconds. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * Exports spans in batches in the background. The queue is bounded: while the collector is unavailable, spans are
 * dropped, and the service is not affected.
 */
export class TraceExporter {
  readonly #settings: TraceSettings;
  readonly #version: string;
  readonly #onfailure: (error: Error) => void;
  readonly #timer: NodeJS.Timeout;
  #queue: Span[] = [];
  #sending: Promise<void> | null = null;
  #sent = 0;
  #dropped = 0;
  #reported = false;

  constructor(settings: TraceSettings, version: string, onfailure: (error: Error) => void) {
    this.#settings = settings;
    this.#version = version;
    this.#onfailure = onfailure;
    this.#timer = setInterval(() => void this.flush(), EVERY_MS);
    this.#timer.unref();
  }

  add(spans: readonly Span[]): void {
    if (this.#queue.length + spans.length > MAX_QUEUED) {
      this.#dropped += spans.length;
      return;
    }
    this.#queue.push(...spans);
    if (this.#queue.length >= AT_ONCE) void this.flush();
  }

  /** Sends one batch. Spans that cannot be sent now are retried with the next batch. */
  flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const late = sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false });
    await Promise.race([late, this.flush().then(() => this.flush())]);
  }

  metrics(): Metric[] {
    return [
      counter("sallyport_spans_exported_total", "Spans accepted by the collector.", this.#sent),
      counter(
        "sallyport_spans_dropped_total",
        "Spans dropped because the collector rejected them or was unavailable.",
        this.#dropped,
      ),
    ];
  }

  async #send(): Promise<void> {
    const batch = this.#queue.splice(0, AT_ONCE);
    if (batch.length === 0) return;
    const outcome = await this.#post(batch);
    if (outcome === "taken") this.#sent += batch.length;
    else if (outcome === "refused" || this.#queue.length + batch.length > MAX_QUEUED) this.#dropped += batch.length;
    else this.#queue.unshift(...batch);
  }

  /** Posts a batch. `later` means that the collector is unavailable or overloaded. */
  async #post(batch: readonly Span[]): Promise<"taken" | "refused" | "later"> {
    const { url, headers, serviceName } = this.#settings;
    const resource = { "service.name": serviceName, "service.version": this.#version };
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: otlpText(batch, resource, this.#version),
        redirect: "error",
        signal: AbortSignal.timeout(EXPORT_TIMEOUT_MS),
      });
      await response.body?.cancel();
      if (response.ok) {
        this.#reported = false;
        return "taken";
      }
      this.#reportOnce(`status ${response.status}`);
      return response.status === 429 || response.status >= 500 ? "later" : "refused";
    } catch (error) {
      this.#reportOnce((error as Error).message);
      return "later";
    }
  }

  /** Reports an export failure once, until an export succeeds again. */
  #reportOnce(what: string): void {
    if (!this.#reported) this.#onfailure(new Error(`Cannot export traces to ${this.#settings.url}: ${what}`));
    this.#reported = true;
  }
}

const INTERNAL = 1;
const UNSET = 0;
const OK = 1;
const ERROR = 2;

/** Serializes spans as OTLP JSON. */
function otlpText(spans: readonly Span[], resource: Readonly<Record<string, string>>, version: string): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributes(resource) },
        scopeSpans: [{ scope: { name: "sallyport", version }, spans: spans.map(spanJson) }],
      },
    ],
  });
}

function spanJson({ traceId, spanId, parentSpanId, name, startMs, endMs, ok, message, attributes: given }: Span) {
  return {
    traceId,
    spanId,
    ...(parentSpanId ? { parentSpanId } : {}),
    name,
    kind: INTERNAL,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributes(given),
    status: { code: ok === null ? UNSET : ok ? OK : ERROR, ...(message ? { message } : {}) },
  };
}

/** Formats a time in nanoseconds. A string, because JSON numbers are not precise enough. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}

function attributes(given: Readonly<Record<string, Attribute>>) {
  return Object.entries(given).map(([key, value]) => ({ key, value: valueJson(value) }));
}

function valueJson(value: Attribute) {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Settings and data for traces. The stages only cover commands that were submitted in this process. */
export interface Tracing {
  settings: TraceSettings;
  stages: Stages;
}

/** Exports traces of all ended commands, including those of other processes. */
export class Tracer {
  readonly #exporter: TraceExporter;
  readonly #stages: Stages;
  readonly #stop: () => void;

  constructor(feed: ChangeFeed, { settings, stages }: Tracing, version: string, onfailure: (error: Error) => void) {
    this.#exporter = new TraceExporter(settings, version, onfailure);
    this.#stages = stages;
    feed.start();
    this.#stop = feed.listen((_, changes) => this.#note(changes));
  }

  metrics(): Metric[] {
    return this.#exporter.metrics();
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#exporter.close();
  }

  /** Exports ended sessions. A session with lingering processes is exported twice, with the same span IDs. */
  #note(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.type !== "session" || change.session.status === "running") continue;
      this.#exporter.add(spansOf(change.session, this.#stages.take(change.session.id)));
    }
  }
}
