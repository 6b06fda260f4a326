/** Where traces go, by the environment variables that OpenTelemetry has for it. */
export interface TraceSettings {
  /** Takes OTLP over HTTP as JSON. */
  url: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
}

/** Null: nowhere, nobody asked for them. Throws where what was asked for cannot be meant. */
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

/** `key=value,key=value`, values percent-encoded. */
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

/** Each step of a request and when it was over, ms since the epoch with fractions. */
export interface Stage {
  step: string;
  atMs: number;
}

/** A request that is asked about may wait for a person: so many may be under way. */
const MAX_KEPT = 2000;

/** How far requests have come, for the traces of those that end. Forgets the oldest rather than grow. */
export class Stages {
  readonly #stages = new Map<string, Stage[]>();

  note(step: string, session: string): void {
    const atMs = performance.timeOrigin + performance.now();
    const known = this.#stages.get(session);
    // One that changed after its approval is judged again: the last time counts.
    if (known) known.push({ step, atMs });
    else this.#stages.set(session, [{ step, atMs }]);
    if (this.#stages.size <= MAX_KEPT) return;
    this.#stages.delete(this.#stages.keys().next().value as string);
  }

  /** Once. */
  take(session: string): readonly Stage[] {
    const stages = this.#stages.get(session) ?? [];
    this.#stages.delete(session);
    return stages;
  }
}
