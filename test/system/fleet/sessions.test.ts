import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openConnection } from "../../../src/fleet/connection.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { tools } from "../../../src/index.ts";
import { TestFleet } from "../../fixtures/fleet.ts";
import { NO_NATS } from "../../fixtures/nats.ts";
import { until } from "../../fixtures/until.ts";

const skip = NO_NATS;
let fleet: TestFleet;
let gateway: Gateway;

before(async () => {
  if (skip) return;
  fleet = await TestFleet.start();
  await fleet.worker("h1");
  gateway = await fleet.open();
});

after(() => fleet?.close());

test("a background session can be listed, read by offset and awaited, and sends a callback", { skip }, async () => {
  const session = await gateway.start({ command: "echo one; echo two; read -r; echo three", stdin: "open" });
  const { status, host, pid } = session.info();
  assert.deepEqual([status, host], ["running", "h1"]);
  assert.ok(pid);
  const list = tools(gateway, "process").find(({ name }) => name === "process.list");
  const answer = (await list?.call({}))?.structured as { processes: { host?: string }[] } | undefined;
  assert.equal(answer?.processes[0]?.host, "h1");
  await until("the log has two lines", async () => (await session.logs()).text === "one\ntwo\n");
  const slice = await session.logs({ offset: 4, limit: 3 });
  assert.deepEqual([slice.text, slice.nextOffset, slice.totalBytes], ["two", 7, 8]);
  await session.write("go\n");
  const ended = await session.wait();
  assert.deepEqual([ended.status, ended.exitCode], ["completed", 0]);
  assert.equal((await session.logs({ tail: 1 })).text, "three\n");
  const [item] = gateway.work.list();
  const payload = item?.payload as { session_id: string; exit_code: number; last_lines: string[] };
  assert.deepEqual(
    [payload.session_id, payload.exit_code, payload.last_lines],
    [session.id, 0, ["one", "two", "three"]],
  );
});

test("follows a log until the session ends", { skip }, async () => {
  const session = await gateway.start({ command: "for i in 1 2 3 4 5; do echo line $i; sleep 0.05; done; echo e >&2" });
  let text = "";
  for await (const chunk of session.follow()) text += Buffer.from(chunk.bytes).toString();
  assert.equal(text, "line 1\nline 2\nline 3\nline 4\nline 5\ne\n");
});

test("reads a log of several megabytes completely", { skip }, async () => {
  const session = await gateway.start({ command: "seq 1 1000000" });
  await session.wait();
  let bytes = 0;
  for await (const chunk of session.read()) bytes += chunk.bytes.length;
  assert.equal(bytes, 6_888_896);
});

test("kill ends the whole process tree, extend moves the deadline, and usage is reported", { skip }, async () => {
  const session = await gateway.start({ command: "sleep 1000 & sleep 1000" });
  await session.extend(600_000);
  await until("both processes are listed", () => session.usage().processes.length >= 2);
  const info = await session.kill();
  assert.equal(info.status, "killed");
  await assert.rejects(session.kill(), { type: "AlreadyExited" });
});

test("the worker enforces the timeout", { skip }, async () => {
  const result = await gateway.run({ command: "sleep 60", timeoutMs: 300 });
  assert.deepEqual([result.status, result.timedOut], ["timed_out", true]);
});

test("a run that exceeds yieldMs continues in the background", { skip }, async () => {
  const result = await gateway.run({ command: "echo begun; sleep 60" }, { yieldMs: 300 });
  assert.deepEqual([result.status, result.output], ["running", "begun\n"]);
  const session = gateway.session(result.id);
  assert.equal((await session.kill()).status, "killed");
});

test("aborting a run kills the command", { skip }, async () => {
  const stop = new AbortController();
  const run = gateway.run({ command: "echo here; sleep 60" }, { signal: stop.signal });
  setTimeout(() => stop.abort(), 300);
  assert.equal((await run).status, "killed");
});

test("a terminal session supports keys, screen, waitFor, resize, picture and recording", { skip }, async () => {
  const session = await gateway.start({ command: "bash --norc -i", pty: true, env: { PS1: "$ " } });
  assert.equal((await session.waitFor({ input: true, timeoutMs: 20_000 })).reason, "input");
  assert.deepEqual(session.info().pty, { columns: 120, rows: 30 });
  await session.sendKeys([..."echo hi-there", "Enter"]);
  const found = await session.waitFor({ pattern: /^hi-there$/m, timeoutMs: 20_000 });
  assert.equal(found.reason, "pattern");
  const screen = await session.screen();
  assert.ok(
    screen.lines.some((line) => line.startsWith("hi-there")),
    screen.lines.join("|"),
  );
  await session.resize({ columns: 100, rows: 20 });
  assert.match(Buffer.from(await session.picture("svg")).toString(), /hi-there/);
  const lines = [];
  for await (const line of session.recording()) lines.push(line);
  assert.match(lines[0] ?? "", /"version":\s*2/);
  await session.write("exit\n");
  assert.equal((await session.wait()).exitCode, 0);
});

test("blocks terminal input that policy blocks", { skip }, async () => {
  const session = await gateway.start({ command: "bash --norc -i", pty: true });
  await session.waitFor({ input: true, timeoutMs: 20_000 });
  await assert.rejects(session.write("mkfs.ext4 /dev/sda1\n"), { type: "CommandBlocked" });
  await session.kill({ signal: "SIGKILL" });
});

test("a removed session is no longer found", { skip }, async () => {
  const { id } = await gateway.run({ command: "echo gone" });
  await gateway.session(id).remove();
  assert.throws(() => gateway.session(id), { type: "SessionNotFound" });
});

test("reads a log from its worker while heartbeats cannot be read", { skip }, async () => {
  const other = await TestFleet.start();
  try {
    await other.worker("h1");
    const first = await other.open();
    const { id } = await first.run({ command: "echo still there" });
    const again = await other.open(); // a gateway that is not attached to the session
    assert.equal((await again.session(id).logs()).text, "still there\n");
    const link = await openConnection({ servers: other.servers, as: "operator" }, "gateway");
    const manager = await link.js.jetstreamManager();
    await manager.streams.delete(`KV_${link.stores.workers}`);
    await link.nc.close();
    assert.equal((await again.session(id).logs()).text, "still there\n");
  } finally {
    await other.close();
  }
});

test("the byte counts of a running session are refreshed repeatedly", { skip }, async () => {
  const session = await gateway.start({ command: "while read -r; do echo line; done", stdin: "open" });
  const written = () => session.info().streams.stdout?.bytes ?? 0;
  for (let lines = 1; lines <= 3; lines++) {
    await session.write("go\n");
    await until(`${lines} lines are counted`, () => written() === 5 * lines);
  }
  await session.kill();
});
