import assert from "node:assert/strict";
import { after, test } from "node:test";
import { EventClient } from "../../fixtures/event-client.ts";
import { TestService } from "../../fixtures/service.ts";

const service = await TestService.start();
after(() => service.close());

async function scraped(): Promise<Map<string, number>> {
  const answer = await service.ask("viewer", "/metrics");
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  const text = await answer.text();
  const line = /^(?:# (?:HELP|TYPE) [a-z0-9_]+ .+|[a-z0-9_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? [-+.\deE]+)$/;
  for (const each of text.trimEnd().split("\n")) assert.match(each, line);
  const samples = text.split("\n").filter((each) => each !== "" && !each.startsWith("#"));
  return new Map(samples.map((each) => [each.slice(0, each.lastIndexOf(" ")), Number(each.split(" ").at(-1))]));
}

test("metrics count the commands of all gateways and the open streams", async () => {
  const before = await scraped();
  const other = await service.fixture.open({ agent: "elsewhere" });
  await other.run({ command: "true" });
  await other.run({ command: "exit 3" });
  await other.run({ command: "id", security: "deny" });
  const session = await service.gateway.start({ command: "sleep 60" });
  const client = new EventClient(() => `${service.url}/v1/events`, {
    authorization: `Bearer ${service.secrets.viewer}`,
  });
  await client.until("the stream is ready", () => client.of("ready").length > 0);
  const now = await scraped();
  const grew = (name: string) => (now.get(name) ?? 0) - (before.get(name) ?? 0);
  assert.equal(grew('sallyport_commands_total{outcome="allowed"}'), 3);
  assert.equal(grew('sallyport_command_ends_total{status="completed"}'), 2);
  assert.equal(grew("sallyport_command_duration_seconds_count"), 2);
  assert.equal(now.get("sallyport_sessions_live"), 1);
  assert.equal(now.get("sallyport_event_streams"), 1);
  assert.equal(now.get('sallyport_http_requests_total{operation="events",status="200"}'), 1);
  assert.ok(grew("sallyport_audit_entries_total") >= 5);
  await client.close();
  await session.kill();
  await other.close();
});

test("health checks need no sign-in, metrics do", async () => {
  assert.deepEqual(await service.json(null, "/healthz"), { status: "ok" });
  assert.deepEqual(await service.json(null, "/readyz"), { status: "ready" });
  assert.equal((await service.ask(null, "/metrics")).status, 401);
  assert.equal((await service.ask("agent", "/metrics")).status, 403);
});

test("label values are escaped", async () => {
  const entry = { agent: "", session: null, actor: "", channel: "cli", summary: "", detail: {} };
  service.gateway.audit.append({ ...entry, kind: "run", outcome: 'a"b\\c\nd' });
  const text = await (await service.ask("viewer", "/metrics")).text();
  assert.ok(text.includes('\nsallyport_commands_total{outcome="a\\"b\\\\c\\nd"} 1\n'));
});
