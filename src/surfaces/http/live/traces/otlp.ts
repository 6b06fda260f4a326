import type { Attribute, Span } from "./spans.ts";

const INTERNAL = 1;
const UNSET = 0;
const OK = 1;
const ERROR = 2;

/** Spans as OTLP's JSON, as the collector's /v1/traces takes it. */
export function otlpText(spans: readonly Span[], resource: Readonly<Record<string, string>>, version: string): string {
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

/** A number of JSON has not enough digits for them. */
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
