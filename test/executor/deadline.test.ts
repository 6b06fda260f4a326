import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { SessionInfo } from "../../src/contract/session.ts";
import { TestHouse } from "../fixtures/gateway.ts";
import { OtherGateway } from "../fixtures/other-gateway.ts";
import { pause, until } from "../fixtures/until.ts";

const house = new TestHouse();
const gateway = await house.open();
after(() => house.close());

const STUBBORN = `trap 'echo asked' TERM; echo up; while :; do sleep 0.02; done`;

test("a deadline asks with SIGTERM first", async () => {
  const result = await gateway.run({ command: "exec sleep 60", timeoutMs: 100 });
  assert.deepEqual(
    [result.status, result.timedOut, result.exitCode, result.signal],
    ["timed_out", true, null, "SIGTERM"],
  );
  assert.ok(result.durationMs >= 100 && result.durationMs < 5000, `${result.durationMs} ms`);
});

test("what does not listen is killed after the grace", async () => {
  const result = await gateway.run({ command: STUBBORN, timeoutMs: 200, graceMs: 300 });
  assert.deepEqual([result.status, result.signal], ["timed_out", "SIGKILL"]);
  assert.match(result.stdout, /up\n(asked\n)+/);
  assert.ok(result.durationMs >= 500, `${result.durationMs} ms`);
});

test("with a grace of 0 it is killed at once", async () => {
  const result = await gateway.run({ command: STUBBORN, timeoutMs: 200, graceMs: 0 });
  assert.deepEqual([result.status, result.signal, result.stdout], ["timed_out", "SIGKILL", "up\n"]);
});

test("a command that ends in its grace has still timed out, with its own exit code", async () => {
  const command = `trap 'echo saved; exit 9' TERM; while :; do sleep 0.02; done`;
  const result = await gateway.run({ command, timeoutMs: 100 });
  assert.deepEqual([result.status, result.exitCode, result.stdout], ["timed_out", 9, "saved\n"]);
});

test("a deadline of 0 is none", async () => {
  const result = await gateway.run({ command: "sleep 0.2; echo done", timeoutMs: 0 });
  assert.deepEqual([result.status, result.stdout], ["completed", "done\n"]);
});

test("a deadline can be moved while the command runs", async () => {
  const session = await gateway.start({ command: "sleep 0.6; echo done", timeoutMs: 300 });
  await session.extend(30_000);
  assert.ok(session.info().timeoutMs >= 30_000, "what is shown is the deadline in force");
  assert.deepEqual([(await session.wait()).status, (await session.logs()).text], ["completed", "done\n"]);
});

test("a deadline can be brought forward, or given to a command that had none", async () => {
  const session = await gateway.start({ command: "sleep 60" });
  await session.extend(50);
  assert.equal((await session.wait()).status, "timed_out");
});

test("a deadline can be lifted", async () => {
  const session = await gateway.start({ command: "sleep 0.6; echo done", timeoutMs: 300 });
  await session.extend(0);
  assert.equal(session.info().timeoutMs, 0);
  assert.equal((await session.wait()).status, "completed");
});

test("a deadline that has passed cannot be moved any more", async () => {
  const session = await gateway.start({ command: STUBBORN, timeoutMs: 50, graceMs: 600 });
  await until("it was asked to end", async () => (await session.logs()).text.includes("asked"));
  await assert.rejects(session.extend(60_000), { type: "AlreadyExited" });
  assert.equal((await session.wait()).status, "timed_out");
  await assert.rejects(session.extend(1000), { type: "AlreadyExited" });
});

for (const wrong of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER, "5", 5n]) {
  test(`a deadline of ${typeof wrong} ${String(wrong)} is refused`, async () => {
    const session = await gateway.start({ command: "sleep 60" });
    await assert.rejects(session.extend(wrong as number), { type: "InvalidRequest" });
    assert.equal((await session.kill()).status, "killed");
  });
}

test("a deadline holds when the gateway is gone", async () => {
  const other = await OtherGateway.open(house);
  const request = { command: STUBBORN, timeoutMs: 1200, graceMs: 200 };
  const { id } = await other.ask<SessionInfo>({ call: "start", request });
  await other.kill();
  assert.equal(gateway.session(id).info().status, "running");
  await until("the command is gone", () => house.alive().length === 0, 10_000);
  const info = await gateway.session(id).wait();
  assert.deepEqual([info.status, info.signal], ["timed_out", "SIGKILL"]);
});

test("the grace holds when the gateway dies within it", async () => {
  const other = await OtherGateway.open(house);
  const { id } = await other.ask<SessionInfo>({ call: "start", request: { command: STUBBORN } });
  other.tell({ call: "kill", id, options: { graceMs: 500 } });
  await until("it was asked to end", async () => (await gateway.session(id).logs()).text.includes("asked"));
  await other.kill();
  await until("the command is gone", () => house.alive().length === 0, 10_000);
  const info = await gateway.session(id).wait();
  assert.deepEqual([info.status, info.signal], ["killed", "SIGKILL"]);
});

test("waiting for a while gives the running session back", async () => {
  const session = await gateway.start({ command: "sleep 60" });
  const before = Date.now();
  assert.equal((await session.wait({ timeoutMs: 50 })).status, "running");
  assert.ok(Date.now() - before >= 45);
  const controller = new AbortController();
  const waiting = session.wait({ signal: controller.signal });
  await pause(20);
  controller.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  assert.equal((await session.kill()).status, "killed");
});
