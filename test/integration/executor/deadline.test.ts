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

/** Returns the output without bash's messages about its `sleep`, which gets the signal too. */
async function said(session: Session): Promise<string> {
  return (await session.logs({ stream: "stdout" })).text;
}

/** Waits until the command has set its trap. */
async function up(session: Session): Promise<Session> {
  await until("the command has set its trap", async () => (await session.logs()).text.includes("up\n"));
  return session;
}

test("a deadline sends SIGTERM first", async () => {
  const result = await gateway.run({ command: "exec sleep 60", timeoutMs: 100 });
  assert.deepEqual(
    [result.status, result.timedOut, result.exitCode, result.signal],
    ["timed_out", true, null, "SIGTERM"],
  );
  assert.ok(result.durationMs >= 100, `${result.durationMs} ms`);
});

test("a command that ignores SIGTERM is killed after the grace period", async () => {
  // A grace period of 1.5 s is long enough for the trap to run on a busy machine.
  const session = await up(await gateway.start({ command: STUBBORN, graceMs: 1500 }));
  const before = Date.now();
  await session.extend(200);
  const info = await session.wait();
  assert.deepEqual([info.status, info.signal], ["timed_out", "SIGKILL"]);
  assert.match(await said(session), /^up\n(asked\n)+$/);
  assert.ok(Date.now() - before >= 1690, "the command was killed before the grace period had passed");
});

test("a grace period of 0 kills the command at once", async () => {
  const session = await up(await gateway.start({ command: STUBBORN, graceMs: 0 }));
  await session.extend(50);
  const info = await session.wait();
  assert.deepEqual([info.status, info.signal, await said(session)], ["timed_out", "SIGKILL", "up\n"]);
});

test("a command that exits in its grace period is reported as timed out, with its own exit code", async () => {
  const command = `trap 'echo saved; exit 9' TERM; echo up; while :; do sleep 0.02; done`;
  const session = await up(await gateway.start({ command, graceMs: 30_000 }));
  await session.extend(50);
  const info = await session.wait();
  assert.deepEqual([info.status, info.exitCode, await said(session)], ["timed_out", 9, "up\nsaved\n"]);
});

test("a deadline of 0 means no deadline", async () => {
  const result = await gateway.run({ command: "sleep 0.2; echo done", timeoutMs: 0 });
  assert.deepEqual([result.status, result.stdout], ["completed", "done\n"]);
});

test("a deadline can be extended or removed while the command runs", async () => {
  // Both commands outlive their original deadline, which must not pass before it is changed.
  const request = { command: "sleep 4.2; echo done", timeoutMs: 4000 };
  const [moved, lifted] = await Promise.all([gateway.start(request), gateway.start(request)]);
  await Promise.all([moved.extend(60_000), lifted.extend(0)]);
  assert.ok(moved.info().timeoutMs >= 60_000, "the session does not show the current deadline");
  assert.equal(lifted.info().timeoutMs, 0);
  for (const session of [moved, lifted]) {
    assert.deepEqual([(await session.wait()).status, (await session.logs()).text], ["completed", "done\n"]);
  }
});

test("a deadline can be shortened, or set for a command without one", async () => {
  const session = await gateway.start({ command: "sleep 60" });
  await session.extend(50);
  assert.equal((await session.wait()).status, "timed_out");
});

test("a deadline that has passed cannot be changed", async () => {
  const session = await up(await gateway.start({ command: STUBBORN, graceMs: 1500 }));
  await session.extend(50);
  await until("the command has received SIGTERM", async () => (await session.logs()).text.includes("asked"));
  await assert.rejects(session.extend(60_000), { type: "AlreadyExited" });
  assert.equal((await session.wait()).status, "timed_out");
  await assert.rejects(session.extend(1000), { type: "AlreadyExited" });
});

for (const wrong of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER, "5", 5n]) {
  test(`rejects the ${typeof wrong} ${String(wrong)} as a deadline`, async () => {
    const session = await gateway.start({ command: "sleep 60" });
    await assert.rejects(session.extend(wrong as number), { type: "InvalidRequest" });
    assert.equal((await session.kill()).status, "killed");
  });
}

test("a deadline is enforced after the gateway was killed", async () => {
  const other = await OtherGateway.open(fixture);
  const request = { command: STUBBORN, timeoutMs: 4000, graceMs: 200 };
  const { id } = await other.ask<SessionInfo>({ call: "start", request });
  await other.kill();
  assert.equal(gateway.session(id).info().status, "running");
  await until("the command has exited", () => fixture.alive().length === 0);
  const info = await gateway.session(id).wait();
  assert.deepEqual([info.status, info.signal], ["timed_out", "SIGKILL"]);
});

test("the grace period is enforced when the gateway is killed during it", async () => {
  const other = await OtherGateway.open(fixture);
  const { id } = await other.ask<SessionInfo>({ call: "start", request: { command: STUBBORN } });
  await up(gateway.session(id));
  other.tell({ call: "kill", id, options: { graceMs: 1500 } });
  await until("the command has received SIGTERM", async () =>
    (await gateway.session(id).logs()).text.includes("asked"),
  );
  await other.kill();
  await until("the command has exited", () => fixture.alive().length === 0);
  const info = await gateway.session(id).wait();
  assert.deepEqual([info.status, info.signal], ["killed", "SIGKILL"]);
});

test("a wait with a timeout returns the running session", async () => {
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
