import assert from "node:assert/strict";
import { after, test } from "node:test";
import { EventStream } from "../../../src/http/live/event-stream.ts";
import { EventClient } from "../../fixtures/event-client.ts";
import { AGENT, TestService } from "../../fixtures/service.ts";
import { until } from "../../fixtures/until.ts";

const service = await TestService.start();
after(() => service.close());

function stream(options: { isGood?: () => boolean } = {}) {
  const seen = { closed: 0, destroyed: 0 };
  const made = new EventStream({
    socket: { destroy: () => Object.assign(seen, { destroyed: seen.destroyed + 1 }) as never },
    isGood: options.isGood ?? (() => true),
    onClose: () => {
      seen.closed++;
    },
  });
  return { made, seen };
}

test("a stream ends when its sign-in ends, after the queued data is sent", async () => {
  let good = true;
  const { made, seen } = stream({ isGood: () => good });
  made.push("event: last\n\n");
  made.beat();
  assert.ok(made.isOpen);
  good = false;
  made.beat();
  assert.ok(!made.isOpen);
  assert.deepEqual(seen, { closed: 1, destroyed: 0 });
  assert.match(await made.response.text(), /event: last/);
  assert.equal(made.push("event: more\n\n"), false);
});

test("disconnects a client that reads nothing for several heartbeats, but not one that reads slowly", async () => {
  const { made, seen } = stream();
  made.push("x".repeat(100_000));
  for (let n = 0; n < 3; n++) made.beat();
  assert.ok(made.isOpen);
  for (let n = 0; n < 3; n++) made.beat();
  assert.deepEqual([made.isOpen, seen], [false, { closed: 1, destroyed: 1 }]);

  const other = stream();
  const reader = (other.made.response.body as ReadableStream).getReader();
  for (let n = 0; n < 20; n++) {
    other.made.push("y".repeat(10_000));
    await reader.read();
    await reader.read();
    other.made.beat();
  }
  assert.ok(other.made.isOpen);
});

test("accepts one event of any size, but not when more than 1 MiB is queued", () => {
  const { made, seen } = stream();
  assert.equal(made.push("x".repeat(3 << 20)), true);
  assert.equal(made.push("one more"), false);
  assert.deepEqual(seen, { closed: 1, destroyed: 1 });
});

test("streams a log from the offset or the last event, to permitted callers only", async () => {
  const gateway = service.gateway.acting({ agent: AGENT, channel: "http" });
  const session = await gateway.start({ command: "seq 1 5; printf '\\377' >&2", name: "followed" });
  await session.wait();
  const follow = (role: "viewer" | "agent" | "other", query = "", from = "") =>
    new EventClient(
      () => `${service.url}/v1/sessions/followed/follow${query}`,
      { authorization: `Bearer ${service.secrets[role]}` },
      { from },
    );
  const textOf = (client: EventClient) => client.of("chunk").map(({ data }) => data.text ?? `<${data.base64}>`);
  const cases: ["viewer" | "agent", string, string, RegExp][] = [
    ["viewer", "?stream=stdout", "", /^1\n2\n3\n4\n5\n/],
    ["agent", "?stream=stderr", "", /^<\/w==>$/],
    ["viewer", "?stream=stdout&offset=8", "", /^5\n/],
    ["viewer", "?stream=stdout", "4.0", /^3\n4\n5\n/],
    ["viewer", "", "10.0", /^<\/w==>$/],
  ];
  for (const [role, query, from, expected] of cases) {
    const client = follow(role, query, from);
    await client.until("the end is reported", () => client.of("end").length === 1);
    assert.match(textOf(client).join(""), expected, `${query} ${from}`);
    await client.close();
  }
  const over: [EventClient, number][] = [
    [follow("other"), 404],
    [follow("viewer", "?stream=both"), 400],
    [follow("viewer", "?offset=-1"), 400],
    [follow("viewer", "", "nonsense"), 400],
    [follow("viewer", "", "10.1-end"), 204],
  ];
  await until("all requests have a response", () => over.every(([{ status }]) => status !== null));
  assert.deepEqual(
    over.map(([{ status }]) => status),
    over.map(([, status]) => status),
  );
});
