import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { openGatewayWith } from "../../../src/gateway/open.ts";
import { Stages, traceSettings } from "../../../src/http/tracing/settings.ts";
import { TraceExporter } from "../../../src/http/tracing/tracer.ts";
import { GatewayFixture, UNHINDERED } from "../../fixtures/gateway.ts";
import { TestService } from "../../fixtures/service.ts";
import { until } from "../../fixtures/until.ts";

interface Exported {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code: number; message?: string };
}

/** Starts a minimal OpenTelemetry collector that responds with `status`. */
async function collector(status = 200) {
  const spans: Exported[] = [];
  const seen = { requests: 0, authorization: "" };
  const server = createServer(async (request, response) => {
    seen.requests++;
    seen.authorization = request.headers.authorization ?? "";
    const body = JSON.parse(await text(request));
    if (status === 200) spans.push(...body.resourceSpans[0].scopeSpans[0].spans);
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { spans, seen, url, close: () => server.close() };
}

const fixture = new GatewayFixture();
const taker = await collector();
const settings = traceSettings({
  OTEL_EXPORTER_OTLP_ENDPOINT: `${taker.url}/`,
  OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20secret, x-other=1",
});

const stages = new Stages();
const gateway = await openGatewayWith(
  { state: fixture.state, workspace: fixture.workspace, ...UNHINDERED, channel: "console" },
  (step, session) => session !== undefined && stages.note(step, session),
);
assert.ok(settings);
const service = await TestService.start({ fixture, opened: gateway, serve: { tracing: { settings, stages } } });
after(async () => {
  await service.close();
  taker.close();
  await fixture.close();
});

test("exports a command as a span with its stages as child spans, in a trace with the session's ID", async () => {
  const asked = { command: "echo $GREETING; exit 3", intent: "to be seen", env: { GREETING: "hidden-value" } };
  const { id } = await service.json<{ id: string }>("operator", "/v1/sessions", { body: asked });
  const own = () => taker.spans.filter(({ traceId }) => traceId === id.replaceAll("-", ""));
  await until("the trace has arrived", () => own().length > 0);
  const root = own().find(({ name }) => name === "sallyport.command");
  assert.ok(root && root.parentSpanId === undefined);
  assert.equal(taker.seen.authorization, "Bearer secret");
  assert.match(root.spanId, /^[0-9a-f]{16}$/);
  assert.equal(root.status.code, 2, "the span of a failed command does not have the status code 2 (error)");
  const value = (key: string) => root.attributes.find((each) => each.key === key)?.value;
  assert.deepEqual(value("process.exit.code"), { intValue: "3" });
  assert.deepEqual(value("sallyport.session.id"), { stringValue: id });
  assert.deepEqual(value("process.command_line"), { stringValue: "echo $GREETING; exit 3" });
  const children = own().filter(({ parentSpanId }) => parentSpanId === root.spanId);
  assert.deepEqual(
    children.map(({ name }) => name),
    ["decide", "authorize", "prepare", "record", "launch", "run"].map((name) => `sallyport.${name}`),
  );
  for (const [index, { startTimeUnixNano, endTimeUnixNano }] of children.entries()) {
    assert.ok(BigInt(startTimeUnixNano) >= BigInt(root.startTimeUnixNano), `child ${index} starts before its parent`);
    assert.ok(BigInt(endTimeUnixNano) <= BigInt(root.endTimeUnixNano), `child ${index} ends after its parent`);
  }
  assert.ok(!JSON.stringify(taker.spans).includes("hidden-value"));
});

test("exports denied commands and commands of another gateway with the stages that are known", async () => {
  const other = await fixture.open({ agent: "elsewhere" });
  const refused = await other.run({ command: "id", security: "deny" });
  const ran = await other.run({ command: "true" });
  const named = (id: string) =>
    taker.spans.filter(({ traceId }) => traceId === id.replaceAll("-", "")).map(({ name }) => name);
  await until("both traces have arrived", () => named(refused.id).length > 0 && named(ran.id).length > 0);
  assert.deepEqual(named(refused.id), ["sallyport.command"]);
  assert.deepEqual(named(ran.id), ["sallyport.command", "sallyport.run"]);
  await other.close();
});

test("the queue stays bounded and one error is reported while the collector is unavailable", async () => {
  const failing = await collector(503);
  const complaints: Error[] = [];
  const url = `${failing.url}/v1/traces`;
  const exporter = new TraceExporter({ url, headers: {}, serviceName: "x" }, "1", (error) => complaints.push(error));
  const span: Parameters<TraceExporter["add"]>[0][number] = {
    traceId: "0",
    spanId: "0",
    name: "x",
    startMs: 0,
    endMs: 0,
    attributes: {},
    ok: null,
  };
  for (let n = 0; n < 10_000; n++) exporter.add([span]);
  await exporter.flush();
  await exporter.flush();
  assert.equal(complaints.length, 1);
  const [sent, dropped] = exporter.metrics().map(({ samples }) => samples[0]?.value ?? 0);
  assert.equal(sent, 0);
  assert.ok((dropped ?? 0) >= 10_000 - 4096 && (dropped ?? 0) < 10_000);
  await exporter.close();
  failing.close();
});

test("reads the standard OpenTelemetry variables and rejects an invalid endpoint", () => {
  assert.equal(traceSettings({}), null);
  assert.equal(traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x:1", OTEL_SDK_DISABLED: "true" }), null);
  const own = "https://traces.example/own";
  assert.equal(traceSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own })?.url, own);
  assert.equal(traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x:4318" })?.url, "http://x:4318/v1/traces");
  assert.throws(() => traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "file:///etc/passwd" }), /must be an http/);
  assert.throws(() => traceSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "nowhere" }), /must be an http/);
});
