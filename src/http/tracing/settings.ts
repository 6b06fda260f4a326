/** Trace export settings, from the standard OpenTelemetry environment variables. */
export interface TraceSettings {
  /** The OTLP endpoint (HTTP with JSON). */
  url: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
}

/** Returns the settings, or null when no endpoint is configured. Throws when the endpoint is invalid. */
export function traceSettings(env: NodeJS.ProcessEnv): TraceSettings | null {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces, OTEL_EXPORTER_OTLP_ENDPOINT: base } = env;
  const given = traces || (base && `${base.replace(/\/+$/, "")}/v1/traces`);
  if (!given || env.OTEL_SDK_DISABLED === "true") return null;
  const url = URL.parse(given);
  if (!url || !/^https?:$/.test(url.protocol)) {
    const name = traces ? "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" : "OTEL_EXPORTER_OTLP_ENDPOINT";
    throw new Error(`${name} must be an http or https URL; received \`${given}\``);
  }
  const headers = env.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? env.OTEL_EXPORTER_OTLP_HEADERS ?? "";
  return { url: url.href, headers: headersOf(headers), serviceName: env.OTEL_SERVICE_NAME || "sallyport" };
}

/** Parses `key=value,key=value` with percent-encoded values. */
function headersOf(text: string): Record<string, string> {
  const pairs = text.split(",").flatMap((pair) => {
    const [, name, value] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    return name === undefined ? [] : [[name.toLowerCase(), decoded(value ?? "")] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** A completed step of a request. */
export interface Stage {
  step: string;
  /** When the step was completed, in milliseconds since the epoch, with fractions. */
  atMs: number;
}

/** Maximum number of requests tracked. Many may be pending, because approvals can take a long time. */
const MAX_KEPT = 2000;

/** Records the completed steps of requests for their traces. Forgets the oldest request when full. */
export class Stages {
  readonly #stages = new Map<string, Stage[]>();

  note(step: string, session: string): void {
    const atMs = performance.timeOrigin + performance.now();
    const known = this.#stages.get(session);
    // A step can occur twice: a command that changed after its approval is checked again.
    if (known) known.push({ step, atMs });
    else this.#stages.set(session, [{ step, atMs }]);
    if (this.#stages.size <= MAX_KEPT) return;
    this.#stages.delete(this.#stages.keys().next().value as string);
  }

  /** Returns and removes the steps of a session. */
  take(session: string): readonly Stage[] {
    const stages = this.#stages.get(session) ?? [];
    this.#stages.delete(session);
    return stages;
  }
}
