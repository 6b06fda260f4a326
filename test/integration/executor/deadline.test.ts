import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { SessionInfo } from "../../../src/core/session.ts";
import type { Session } from "../../../src/session/session.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { OtherGateway } from "../../fixtures/other-gateway.ts";
import { pause, until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

const STUBBORN = `trap 'echo asked' TERM; echo up; while :; do sleep 0.02; done`;

/** Without what bash says of its `sleep`, which is asked as well. */
async function said(session: Session): Promise<string> {
  return (await session.logs({ stream: "stdout" })).text;
}

/** Only then has it set its trap, and a deadline or a signal finds what the test is about. */
async function up(session: Session): Promise<Session> {
  await until("it is up", async () => (await session.logs()).text.includes("up\n"));
  return session;
}

test("a deadline asks with SIGTERM first", async () => {
  const result = await gateway.run({ command: "exec sleep 60", timeoutMs: 100 });
  assert.deepEqual(
    [result.status, result.timedOut, result.exitCode, result.signal],
    ["timed_out", true, null, "SIGTERM"],
  );
  assert.ok(result.durationMs >= 100, `${result.durationMs} ms`);
});

test("what does not listen is killed after the grace", async () => {
  // Long enough to be heard of, however busy the machine is.
  const session = await up(await gateway.start({ command: STUBBORN, graceMs: 1500 }));
  const before = Date.now();
  await session.extend(200);
  const info = await session.wait();
  assert.deepEqual([info.status, info.signal], ["timed_out", "SIGKILL"]);
  assert.match(await said(session), /^up\n(asked\n)+$/);
  assert.ok(Date.now() - before >= 1690, "both were waited for");
});

test("with a grace of 0 it is killed at once", async () => {
  const session = await up(await gateway.start({ command: STUBBORN, graceMs: 0 }));
  await session.extend(50);
  const info = await session.wait();
  assert.deepEqual([info.status, info.signal, await said(session)], ["timed_out", "SIGKILL", "up\n"]);
});

test("a command that ends in its grace has still timed out, with its own exit code", async () => {
  const command = `trap 'echo saved; exit 9' TERM; echo up; while :; do sleep 0.02; done`;
  const session = await up(await gateway.start({ command, graceMs: 30_000 }));
  await session.extend(50);
  const info = await session.wait();
  assert.deepEqual([info.status, info.exitCode, await said(session)], ["timed_out", 9, "up\nsaved\n"]);
});

test("a deadline of 0 is none", async () => {
  const result = await gateway.run({ command: "sleep 0.2; echo done", timeoutMs: 0 });
  assert.deepEqual([result.status, result.stdout], ["completed", "done\n"]);
});

test("a deadline can be moved, or lifted, while the command runs", async () => {
  // Both outlive the deadline that they were started with, which must not have passed before it is changed.
  const request = { command: "sleep 4.2; echo done", timeoutMs: 4000 };
  const [moved, lifted] = await Promise.all([gateway.start(request), gateway.start(request)]);
  await Promise.all([moved.extend(60_000), lifted.extend(0)]);
  assert.ok(moved.info().timeoutMs >= 60_000, "what is shown is the deadline in force");
  assert.equal(lifted.info().timeoutMs, 0);
  for (const session of [moved, lifted]) {
    assert.deepEqual([(await session.wait()).status, (await session.logs()).text], ["completed", "done\n"]);
  }
});

test("a deadline can be brought forward, or given to a command that had none", async () => {
  const session = await gateway.start({ command: "sleep 60" });
  await session.extend(50);
  assert.equal((await session.wait()).status, "timed_out");
});

test("a deadline that has passed cannot be moved any more", async () => {
  const session = await up(await gateway.start({ command: STUBBORN, graceMs: 1500 }));
  await session.extend(50);
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
  const other = await OtherGateway.open(fixture);
  const request = { command: STUBBORN, timeoutMs: 4000, graceMs: 200 };
  const { id } = await other.ask<SessionInfo>({ call: "start", request });
  await other.kill();
  assert.equal(gateway.session(id).info().status, "running");
  await until("the command is gone", () => fixture.alive().length === 0);
  const info = await gateway.session(id).wait();
  assert.deepEqual([info.status, info.signal], ["timed_out", "SIGKILL"]);
});

test("the grace holds when the gateway dies within it", async () => {
  const other = await OtherGateway.open(fixture);
  const { id } = await other.ask<SessionInfo>({ call: "start", request: { command: STUBBORN } });
  await up(gateway.session(id));
  other.tell({ call: "kill", id, options: { graceMs: 1500 } });
  await until("it was asked to end", async () => (await gateway.session(id).logs()).text.includes("asked"));
  await other.kill();
  await until("the command is gone", () => fixture.alive().length === 0);
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
