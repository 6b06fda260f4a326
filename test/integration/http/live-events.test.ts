import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, test } from "node:test";
import { openDatabase } from "../../../src/storage/database.ts";
import { EventClient } from "../../fixtures/event-client.ts";
import { AGENT, TestService } from "../../fixtures/service.ts";
import { until } from "../../fixtures/until.ts";

const service = await TestService.start();
after(() => service.close());

type Holder = keyof TestService["secrets"];

function listen(
  role: Holder,
  options?: ConstructorParameters<typeof EventClient>[2],
  path = "/v1/events",
): EventClient {
  return new EventClient(() => service.url + path, { authorization: `Bearer ${service.secrets[role]}` }, options);
}

async function ready(role: Holder, options?: { from?: string }): Promise<EventClient> {
  const client = listen(role, options);
  await client.until("it is ready", ({ events }) => events.some(({ type }) => type === "ready"));
  return client;
}

test("what happens to a session and an approval is told, and what is used meanwhile", async () => {
  const client = await ready("viewer");
  const session = await service.gateway.start({ command: "sleep 60", name: "watched" });
  const statuses = () =>
    client
      .of("session")
      .filter(({ data }) => data.id === session.id)
      .map(({ data }) => data.status);
  await client.until("its start is told", () => statuses().includes("running"));
  await client.until("its use is told", () =>
    client.of("stats").some(({ data }) => data.sessions.some(({ id }: { id: string }) => id === session.id)),
  );
  await session.kill();
  await client.until("its end is told", () => statuses().includes("killed"));
  await session.remove();
  await client.until("its removal is told", () => client.of("removed").some(({ data }) => data.id === session.id));
  await client.until("the audit has grown", () => client.of("audit").length > 0);
  assert.equal(client.of("stats")[0]?.id, null, "stats move nobody's position");
  await client.close();
});

test("who comes back hears what was missed, once, and nothing before", async () => {
  const first = await ready("viewer");
  await service.gateway.run({ command: "true", name: "seen" });
  const isSeen = (client: EventClient) =>
    client.of("session").some(({ data }) => data.name === "seen" && data.status === "completed");
  await first.until("it is told", isSeen);
  await first.close();
  const missed = await Promise.all(
    Array.from({ length: 50 }, (_, n) => service.gateway.run({ command: "true", name: `missed-${n}` })),
  );
  const second = await ready("viewer", { from: first.lastId ?? "" });
  const names = second.of("session").map(({ data }) => data.name);
  assert.deepEqual(names.toSorted(), missed.map(({ name }) => name).toSorted());
  assert.ok(second.of("session").every(({ data }) => data.status === "completed"));
  const types = second.events.map(({ type }) => type);
  assert.ok(types.lastIndexOf("session") < types.indexOf("ready"), "what was missed comes first");
  await second.close();
});

test("a position that says nothing here has everything looked at anew", async () => {
  for (const from of ["999999999-0", "0-999999999", "nonsense", "1-2-3", "-1-1"]) {
    const client = await ready("viewer", { from });
    assert.deepEqual(client.events.map(({ type }) => type).slice(0, 2), ["reset", "ready"], from);
    await client.close();
  }
});

test("an agent hears of its own only", async () => {
  const client = await ready("agent");
  assert.deepEqual(client.events[0]?.data, {}, "not even how much happens");
  const run = (role: Holder, name: string) =>
    service.ask(role, "/v1/sessions", { body: { command: "true", name } }).then((answer) => answer.json());
  await run("other", "not-for-you");
  await run("agent", "for-you");
  await client.until("its own is told", () => client.of("session").some(({ data }) => data.name === "for-you"));
  await client.until("stats come", () => client.of("stats").length > 0);
  assert.deepEqual([...new Set(client.of("session").map(({ data }) => data.agent))], [AGENT]);
  assert.deepEqual(client.of("audit"), []);
  await client.close();
});

test("a command of megabytes is told of in short, an approval whole or not at all", async () => {
  const client = await ready("viewer");
  const long = `true ${"x".repeat(100_000)}`;
  await service.gateway.run({ command: long, name: "long" });
  await client.until("it is told", () => client.of("session").some(({ data }) => data.name === "long"));
  const told = client.of("session").find(({ data }) => data.name === "long")?.data;
  assert.ok(told.shortened && told.command.length < 5000);
  await client.close();
});

test("nobody, a wrong token and a foreign page get no events", async () => {
  const tries: [Record<string, string>, number][] = [
    [{}, 401],
    [{ authorization: "Bearer sallyport_wrong" }, 401],
    [{ authorization: `Bearer ${service.secrets.viewer}`, origin: "http://evil.example" }, 403],
  ];
  for (const [headers, status] of tries) {
    const client = new EventClient(() => `${service.url}/v1/events`, headers);
    await client.until("it is answered", () => client.status !== null);
    assert.equal(client.status, status);
    await client.close();
  }
});

test("who never reads is cut off before much waits for them, and misses nothing by coming back", async () => {
  const before = await ready("viewer");
  const from = before.lastId;
  await before.close();
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write(
    `GET /v1/events HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${service.secrets.viewer}\r\n\r\n`,
  );
  const [head] = (await once(socket, "data")) as [Buffer];
  assert.match(String(head), /^HTTP\/1.1 200 /);
  socket.removeAllListeners("data").pause();
  // Ten thousand changes a second and more, by another process as it were.
  const large = await Promise.all(
    Array.from({ length: 50 }, () => service.gateway.run({ command: "true", env: envOf(90, 100) })),
  );
  const database = openDatabase(`${service.fixture.state}/sallyport.db`);
  const change = database.prepare("UPDATE sessions SET timeout_ms = timeout_ms + 1 WHERE id = ?");
  const reader = await ready("operator");
  await until("who reads has read more than any socket holds", () => {
    database.exec("BEGIN IMMEDIATE");
    for (let n = 0; n < 100; n++) change.run(large[n % large.length]?.id ?? "");
    database.exec("COMMIT");
    return reader.of("session").length > 2000;
  });
  database.close();
  await reader.close();
  // What was on its way is read now, and then it is over.
  let received = 0;
  socket.on("data", (data) => {
    received += data.length;
  });
  await Promise.all([once(socket, "close"), socket.resume()]);
  assert.ok(received < 2000 * 10_000);
  const back = await ready("viewer", { from: from ?? "" });
  if (back.events[0]?.type !== "reset") {
    const told = new Map(back.of("session").map(({ data }) => [data.id, data.timeoutMs]));
    for (const { id } of large) assert.equal(told.get(id), service.gateway.session(id).info().timeoutMs);
  }
  await back.close();
});

/** Names are told, values are not: a way to make a row long. */
function envOf(count: number, length: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`V${n}_${"x".repeat(length)}`, ""]));
}

test("one caller may open a hundred, and no more", async () => {
  const clients = Array.from({ length: 101 }, () => listen("approver"));
  await until("all are answered", () => clients.every(({ status }) => status !== null));
  assert.equal(clients.filter(({ status }) => status === 200).length, 100);
  assert.equal(clients.filter(({ status }) => status === 429).length, 1);
  await clients[0]?.close();
  await until("a place is free again", async () => {
    const another = listen("approver");
    await until("it is answered", () => another.status !== null);
    clients.push(another);
    return another.status === 200;
  });
  for (const client of clients) await client.close();
});

test("who is signed out while a stream is open hears no more", async () => {
  const { token, secret } = service.tokens.create({ name: "leaver", role: "viewer", agent: "", createdBy: "tester" });
  const headers = { authorization: `Bearer ${secret}` };
  const client = new EventClient(() => `${service.url}/v1/events`, headers);
  await client.until("it is ready", () => client.of("ready").length > 0);
  service.tokens.revoke(token.id);
  const again = await fetch(`${service.url}/v1/events`, { headers });
  assert.equal(again.status, 401);
  await client.close();
});
