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
  await client.until("the stream is ready", ({ events }) => events.some(({ type }) => type === "ready"));
  return client;
}

test("streams changes to sessions, resource usage and audit events", async () => {
  const client = await ready("viewer");
  const session = await service.gateway.start({ command: "sleep 60", name: "watched" });
  const statuses = () =>
    client
      .of("session")
      .filter(({ data }) => data.id === session.id)
      .map(({ data }) => data.status);
  await client.until("the start is reported", () => statuses().includes("running"));
  await client.until("the usage is reported", () =>
    client.of("stats").some(({ data }) => data.sessions.some(({ id }: { id: string }) => id === session.id)),
  );
  await session.kill();
  await client.until("the end is reported", () => statuses().includes("killed"));
  await session.remove();
  await client.until("the removal is reported", () => client.of("removed").some(({ data }) => data.id === session.id));
  await client.until("the audit event is reported", () => client.of("audit").length > 0);
  assert.equal(client.of("stats")[0]?.id, null, "a stats event has an id");
  await client.close();
});

test("a client that reconnects receives the missed events exactly once", async () => {
  const first = await ready("viewer");
  await service.gateway.run({ command: "true", name: "seen" });
  const isSeen = (client: EventClient) =>
    client.of("session").some(({ data }) => data.name === "seen" && data.status === "completed");
  await first.until("the event has arrived", isSeen);
  await first.close();
  const missed = await Promise.all(
    Array.from({ length: 50 }, (_, n) => service.gateway.run({ command: "true", name: `missed-${n}` })),
  );
  const second = await ready("viewer", { from: first.lastId ?? "" });
  const names = second.of("session").map(({ data }) => data.name);
  assert.deepEqual(names.toSorted(), missed.map(({ name }) => name).toSorted());
  assert.ok(second.of("session").every(({ data }) => data.status === "completed"));
  const types = second.events.map(({ type }) => type);
  assert.ok(types.lastIndexOf("session") < types.indexOf("ready"), "a missed event came after the ready event");
  await second.close();
});

test("an invalid position causes a reset", async () => {
  for (const from of ["999999999-0", "0-999999999", "nonsense", "1-2-3", "-1-1"]) {
    const client = await ready("viewer", { from });
    assert.deepEqual(client.events.map(({ type }) => type).slice(0, 2), ["reset", "ready"], from);
    await client.close();
  }
});

test("an agent only receives its own events", async () => {
  const client = await ready("agent");
  assert.deepEqual(client.events[0]?.data, {}, "the ready event has an audit sequence");
  const run = (role: Holder, name: string) =>
    service.ask(role, "/v1/sessions", { body: { command: "true", name } }).then((answer) => answer.json());
  await run("other", "not-for-you");
  await run("agent", "for-you");
  await client.until("the agent's own session is reported", () =>
    client.of("session").some(({ data }) => data.name === "for-you"),
  );
  await client.until("a stats event has arrived", () => client.of("stats").length > 0);
  assert.deepEqual([...new Set(client.of("session").map(({ data }) => data.agent))], [AGENT]);
  assert.deepEqual(client.of("audit"), []);
  await client.close();
});

test("shortens a long command in an event", async () => {
  const client = await ready("viewer");
  const long = `true ${"x".repeat(100_000)}`;
  await service.gateway.run({ command: long, name: "long" });
  await client.until("the event has arrived", () => client.of("session").some(({ data }) => data.name === "long"));
  const told = client.of("session").find(({ data }) => data.name === "long")?.data;
  assert.ok(told.shortened && told.command.length < 5000);
  await client.close();
});

test("rejects event streams without a token, with a wrong token and from another origin", async () => {
  const tries: [Record<string, string>, number][] = [
    [{}, 401],
    [{ authorization: "Bearer sallyport_wrong" }, 401],
    [{ authorization: `Bearer ${service.secrets.viewer}`, origin: "http://evil.example" }, 403],
  ];
  for (const [headers, status] of tries) {
    const client = new EventClient(() => `${service.url}/v1/events`, headers);
    await client.until("the request has a response", () => client.status !== null);
    assert.equal(client.status, status);
    await client.close();
  }
});

test("disconnects a client that does not read; after it reconnects, the client has missed nothing", async () => {
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
  // Make more than ten thousand changes per second directly in the database, as another process would.
  const large = await Promise.all(
    Array.from({ length: 50 }, () => service.gateway.run({ command: "true", env: envOf(90, 100) })),
  );
  const database = openDatabase(`${service.fixture.state}/sallyport.db`);
  const change = database.prepare("UPDATE sessions SET timeout_ms = timeout_ms + 1 WHERE id = ?");
  const reader = await ready("operator");
  await until("the reading client has received more than a socket buffers", () => {
    database.exec("BEGIN IMMEDIATE");
    for (let n = 0; n < 100; n++) change.run(large[n % large.length]?.id ?? "");
    database.exec("COMMIT");
    return reader.of("session").length > 2000;
  });
  database.close();
  await reader.close();
  // Reads the buffered data up to the end of the connection.
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

/** Returns variables with long names, which make the session row long. */
function envOf(count: number, length: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`V${n}_${"x".repeat(length)}`, ""]));
}

test("limits the streams of one caller to 100", async () => {
  const clients = Array.from({ length: 101 }, () => listen("approver"));
  await until("all requests have a response", () => clients.every(({ status }) => status !== null));
  assert.equal(clients.filter(({ status }) => status === 200).length, 100);
  assert.equal(clients.filter(({ status }) => status === 429).length, 1);
  await clients[0]?.close();
  await until("a slot is free again", async () => {
    const another = listen("approver");
    await until("the request has a response", () => another.status !== null);
    clients.push(another);
    return another.status === 200;
  });
  for (const client of clients) await client.close();
});

test("rejects a new stream when the caller's token has been revoked", async () => {
  const { token, secret } = service.tokens.create({ name: "leaver", role: "viewer", agent: "", createdBy: "tester" });
  const headers = { authorization: `Bearer ${secret}` };
  const client = new EventClient(() => `${service.url}/v1/events`, headers);
  await client.until("the stream is ready", () => client.of("ready").length > 0);
  service.tokens.revoke(token.id);
  const again = await fetch(`${service.url}/v1/events`, { headers });
  assert.equal(again.status, 401);
  await client.close();
});
