import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeWatch } from "../../../src/executor/native/frames.ts";
import type { Session } from "../../../src/session/session.ts";
import { HeldWatch } from "../../fixtures/held-watch.ts";
import { RawKeeper } from "../../fixtures/raw-keeper.ts";
import { AGENT, TestService } from "../../fixtures/service.ts";
import { TerminalClient } from "../../fixtures/terminal-client.ts";
import { until } from "../../fixtures/until.ts";

const SOCKET_PROTOCOL = "sallyport";

const service = await TestService.start();
after(() => service.close());

type Holder = keyof TestService["secrets"];

function bearer(role: Holder): Record<string, string> {
  return { authorization: `Bearer ${service.secrets[role]}` };
}

function look(session: { id: string }, headers = bearer("viewer"), protocols?: string[]): TerminalClient {
  return new TerminalClient(`${service.url}/v1/sessions/${session.id}/terminal`, headers, protocols);
}

/** Connects a viewer to a second service with the same state folder, which has its own connection to the keeper. */
async function lookElsewhere(session: { id: string }) {
  const elsewhere = await TestService.start({ fixture: service.fixture });
  const headers = { authorization: `Bearer ${elsewhere.secrets.viewer}` };
  const client = new TerminalClient(`${elsewhere.url}/v1/sessions/${session.id}/terminal`, headers);
  return { elsewhere, client };
}

function start(command: string, agent = AGENT): Promise<Session> {
  return service.gateway
    .acting({ agent, channel: "http" })
    .start({ command, pty: true, size: { columns: 60, rows: 12 } });
}

test("a viewer sees the current screen, then new output, then the end", async () => {
  const session = await start("printf 'before\\r\\n'; read line; echo after $line; read more; exit 3");
  await session.waitFor({ input: true, timeoutMs: 20_000 });
  const [first, second] = [look(session), look(session, bearer("operator"))];
  await Promise.all([first.shows("before"), second.shows("before")]);
  assert.deepEqual(first.of("hello"), [{ type: "hello", input: false }]);
  assert.deepEqual(second.of("hello"), [{ type: "hello", input: true }]);
  assert.deepEqual(first.of("repaint"), [{ type: "repaint", columns: 60, rows: 12, skipped: 0 }]);
  second.type("typed\r");
  await Promise.all([first.shows("after typed"), second.shows("after typed")]);
  const late = look(session);
  await late.shows("after typed");
  assert.deepEqual(late.screen.lines, first.screen.lines);
  second.type("\r");
  await until("all viewers are notified", () => [first, second, late].every(({ closed }) => closed === 1000));
  assert.equal(first.of("ended")[0]?.info.exitCode, 3);
  const entries = service.gateway.audit.search({ session: session.id, kind: "stdin" });
  assert.ok(entries.every(({ actor, agent }) => actor === "olga" && agent === AGENT));
  // A viewer that connects after the end sees the last screen.
  const after = look(session);
  await after.shows("after typed");
  await until("the session has ended", () => after.closed === 1000);
});

test("shows output that the keeper announced just before it received the watch request", async () => {
  const session = await start("read line; echo after $line; sleep 600");
  await session.waitFor({ input: true, timeoutMs: 20_000 });
  const folder = service.fixture.sessionFolder(session.id);
  const proxy = await HeldWatch.open(folder);
  const { elsewhere, client } = await lookElsewhere(session);
  try {
    await until("the watch request is on its way", () => proxy.held === 1);
    const watcher = await RawKeeper.open(proxy.keeper);
    watcher.socket.write(encodeWatch());
    await watcher.saw("re");
    await session.write("typed\r");
    await until("the output is drawn", async () => (await session.screen()).lines.includes("after typed"));
    const { size } = statSync(join(folder, "output"));
    await until("the keeper has announced the output", () =>
      watcher.events.some((event) => event.ev === "grew" && event.bytes[0] === size),
    );
    await watcher.close();
    proxy.release();
    await client.shows("after typed");
  } finally {
    await client.close();
    await elsewhere.close();
    proxy.close();
    await session.kill();
  }
});

test("only operators and the agent itself can type", async () => {
  const session = await start("while read line; do echo got $line; done");
  for (const role of ["viewer", "approver"] as const) {
    const client = look(session, bearer(role));
    await until("the viewer is connected", () => client.of("repaint").length === 1);
    client.type("no\r");
    await until("the connection is closed", () => client.closed === 1008);
  }
  const agent = look(session, bearer("agent"));
  await until("the viewer is connected", () => agent.of("hello").length === 1);
  assert.equal(agent.of("hello")[0]?.input, true);
  agent.type("yes\r");
  await agent.shows("got yes");
  assert.ok(!agent.screen.lines.includes("got no"));
  await agent.close();
  await session.kill();
});

test("the keeper answers terminal queries once, however many viewers there are and whatever they reply", async () => {
  // The reply to the second query ends in c, and only a person types Y.
  const asks = "stty raw -echo; printf '\\033[6n\\033[c'; IFS= read -r -d c answers; printf 'answered\\r\\n'";
  const session = await start(
    `${asks}; IFS= read -r -d Y typed; stty sane; printf '%sc%sY' "$answers" "$typed" | od -c; sleep 60`,
  );
  const clients = [look(session, bearer("operator")), look(session, bearer("operator"))];
  await Promise.all(clients.map((client) => client.shows("answered")));
  for (const client of clients) {
    for (const answer of ["\x1b[1;1R", "\x1b[?1;2c", "\x1b[I", "\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1b[?2004;1$y"]) {
      client.type(answer);
    }
  }
  clients[0]?.type("KEY");
  await Promise.all(clients.map((client) => client.shows("E   Y")));
  const shown = clients[0]?.screen.lines.join("\n") ?? "";
  assert.equal(shown.match(/R/g)?.length, 1, shown);
  assert.ok(!shown.includes("$"), shown);
  for (const client of clients) await client.close();
  await session.kill();
});

test("a resize repaints the screen for all viewers", async () => {
  const session = await start("echo hello; sleep 60");
  const [operator, viewer] = [look(session, bearer("operator")), look(session)];
  await Promise.all([operator.shows("hello"), viewer.shows("hello")]);
  operator.say({ type: "resize", columns: 100, rows: 30 });
  operator.say({ type: "resize", columns: 70, rows: 20 });
  await until("both viewers have the new size", () =>
    [operator, viewer].every(({ screen }) => screen.columns === 70 && screen.rows === 20),
  );
  await viewer.shows("hello");
  const entries = () => service.gateway.audit.search({ session: session.id, kind: "resize" });
  await until(
    "the resize is in the audit log",
    () => (entries()[0]?.detail as { columns: number } | undefined)?.columns === 70,
  );
  assert.ok(entries().every(({ actor, channel }) => actor === "olga" && channel === "http"));
  assert.deepEqual(entries()[0]?.detail, { columns: 70, rows: 20 });
  await operator.close();
  await viewer.close();
  await session.kill();
});

test("repaints a terminal of one column only once", async () => {
  const session = await service.gateway
    .acting({ agent: AGENT, channel: "http" })
    .start({ command: "echo x; sleep 60", pty: true, size: { columns: 1, rows: 12 } });
  const viewer = look(session);
  await viewer.shows("x");
  await sleep(2500); // longer than two size checks
  assert.equal(viewer.of("repaint").length, 1);
  await viewer.close();
  await session.kill();
});

test("a slow viewer skips ahead instead of queueing output", async () => {
  const session = await start(
    "read go; head -c 8000000 /dev/zero | tr '\\0' x | fold -w 50; echo; echo THE END; sleep 60",
  );
  const client = look(session);
  client.acknowledges = false;
  await until("the viewer is connected", () => client.of("repaint").length === 1);
  await session.write("go\r");
  await until("all output is written", () => (session.info().streams.output?.bytes ?? 0) > 8_000_000);
  await until("the window is full", () => client.bytes > 100_000);
  assert.ok(client.bytes < 1_500_000, `${client.bytes} bytes were sent without an acknowledgement`);
  client.acknowledges = true;
  client.say({ type: "ack", bytes: client.bytes });
  await client.shows("THE END");
  assert.ok(client.bytes < 5_000_000);
  assert.ok(client.of("repaint").some(({ skipped }) => skipped > 0));
  await client.close();
  await session.kill();
});

test("a repaint that exceeds the window is sent as it is acknowledged", async () => {
  const gateway = service.gateway.acting({ agent: AGENT, channel: "http" });
  const size = { columns: 1000, rows: 400 };
  const session = await gateway.start({ command: "seq -s ' ' 1 70000; echo THE END; sleep 60", pty: true, size });
  await until("the output is written", () => (session.info().streams.output?.bytes ?? 0) > 400_000);
  const [idle, drawing] = [look(session), look(session)];
  idle.acknowledges = false;
  await drawing.shows("THE END");
  await until("the window is full", () => idle.bytes > 200_000);
  assert.ok(idle.bytes <= 256 * 1024, `${idle.bytes} bytes were sent without an acknowledgement`);
  idle.acknowledges = true;
  idle.say({ type: "ack", bytes: idle.bytes });
  await idle.shows("THE END");
  for (const client of [idle, drawing]) await client.close();
  await session.kill();
});

test("disconnects a client that reads nothing, even if it makes the service respond", async () => {
  const session = await start("sleep 60");
  const client = look(session);
  await until("the viewer is connected", () => client.of("repaint").length === 1);
  client.socket.pause();
  const payload = Buffer.alloc(125);
  await until("the client is disconnected", () => {
    for (let n = 0; n < 5000 && client.socket.readyState === client.socket.OPEN; n++) client.socket.ping(payload);
    return client.socket.readyState !== client.socket.OPEN;
  });
  client.socket.terminate();
  await session.kill();
});

test("an invalid or too long frame closes the connection, but not the session", async () => {
  const session = await start("echo here; sleep 60");
  const frames: [object | string | Uint8Array, number][] = [
    ["not json", 1003],
    ["null", 1003],
    [{ type: "run", command: "true" }, 1003],
    [{ type: "input", data: 7 }, 1003],
    [{ type: "input", data: "x", more: 1 }, 1003],
    [{ type: "resize", columns: 1e9, rows: 1 }, 1003],
    [{ type: "ack", bytes: -1 }, 1003],
    [Buffer.from("binary"), 1003],
    [{ type: "input", data: "x".repeat(100_000) }, 1009],
  ];
  for (const [frame, code] of frames) {
    const client = look(session, bearer("operator"));
    await client.shows("here");
    client.say(frame);
    await until("the connection is closed", () => client.closed !== null);
    assert.equal(client.closed, code, JSON.stringify(frame).slice(0, 80));
  }
  assert.equal(session.info().status, "running");
  await session.kill();
});

test("limits pending input for a program that does not read", async () => {
  const session = await start("stty raw -echo; echo ready; sleep 60");
  const client = look(session, bearer("operator"));
  await client.shows("ready");
  for (let n = 0; n < 40; n++) client.type("x".repeat(16 * 1024));
  await until("the input is rejected", () => client.of("refused").length > 0);
  assert.equal(client.of("refused")[0]?.error, "TooLarge");
  await client.close();
  await session.kill();
});

test("rejects an unauthorized viewer before the WebSocket upgrade", async () => {
  const session = await start("sleep 60");
  const pipes = await service.gateway.acting({ agent: AGENT, channel: "http" }).start({ command: "sleep 60" });
  const page = await service.signIn();
  const own = { origin: service.url };
  const refused: [TerminalClient, number][] = [
    [look(session, {}), 401],
    [look(session, { authorization: "Bearer sallyport_no" }), 401],
    [look(session, bearer("other")), 404],
    [look({ id: "no-such-session" }), 404],
    [look({ id: "%E0%A4%A" }), 404],
    [look(pipes), 409],
    [look(session, { ...bearer("viewer"), origin: "http://evil.example" }), 403],
    [look(session, { ...bearer("viewer"), host: "evil.example" }), 403],
    [look(session, { origin: "http://127.0.0.1:1" }, [SOCKET_PROTOCOL, page.key]), 403],
    [look(session, {}, [SOCKET_PROTOCOL, page.key]), 403],
    [look(session, own), 401],
    [look(session, own, [SOCKET_PROTOCOL, "x".repeat(43)]), 401],
  ];
  await until("all requests have a response", () =>
    refused.every(([{ status, closed }]) => status !== null || closed !== null),
  );
  for (const [index, [{ status }, expected]] of refused.entries()) assert.equal(status, expected, `case ${index}`);
  const letIn = look(session, own, [SOCKET_PROTOCOL, page.key]);
  await until("the console is accepted", () => letIn.of("hello").length === 1);
  assert.equal(letIn.socket.protocol, SOCKET_PROTOCOL, "the server selected another protocol, possibly the key");
  await letIn.close();
  await session.kill();
  await pipes.kill();
});

test("a viewer that disconnects frees its slot, and slots are limited", async () => {
  const session = await start("sleep 60");
  const clients = Array.from({ length: 33 }, () => look(session, bearer("approver")));
  await until("all requests have a response", () =>
    clients.every(({ status, messages }) => status !== null || messages.length > 0),
  );
  assert.equal(clients.filter(({ status }) => status === 429).length, 1);
  for (const { socket } of clients) socket.terminate();
  await until("a slot is free again", async () => {
    const client = look(session, bearer("approver"));
    await until("the request has a response", () => client.status !== null || client.messages.length > 0);
    client.socket.terminate();
    return client.status === null;
  });
  await session.kill();
});
