import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";

let fixture: GatewayFixture;
let gateway: Gateway;
before(async () => {
  fixture = new GatewayFixture();
  gateway = await fixture.open();
});
after(() => fixture.close());

function callbacksOf(id: string): number {
  return gateway.work.list().filter(({ payload }) => (payload as { session_id: string }).session_id === id).length;
}

test("a command that exceeds yieldMs continues in the background and is reported once", async () => {
  const result = await gateway.run(
    { command: "echo early; while ! test -e go; do sleep 0.02; done; echo late; exit 3" },
    { yieldMs: 3000 }, // long enough for the first output on any machine
  );
  assert.deepEqual([result.status, result.exitCode, result.stdout], ["running", null, "early\n"]);
  const session = gateway.session(result.id);
  assert.ok((session.info().pid ?? 0) > 0);
  await gateway.run({ command: "touch go" });
  const info = await session.wait();
  assert.deepEqual([info.status, info.exitCode, info.background], ["completed", 3, true]);
  assert.equal(callbacksOf(result.id), 1);
});

test("a command that exits within yieldMs queues no work item", async () => {
  const result = await gateway.run({ command: "echo done" }, { yieldMs: 60_000, answerWithinMs: 60_000 });
  assert.deepEqual([result.status, result.stdout], ["completed", "done\n"]);
  assert.equal(gateway.session(result.id).info().background, false);
  assert.equal(callbacksOf(result.id), 0);
});

test("processes left by a command in the background keep running", async () => {
  const result = await gateway.run(
    { command: "while ! test -e leave; do sleep 0.02; done; sleep 60 & echo left" },
    { yieldMs: 50 },
  );
  await gateway.run({ command: "touch leave" });
  const session = gateway.session(result.id);
  const info = await session.wait();
  assert.deepEqual([info.status, info.lingering], ["completed", true]);
  await session.kill();
});

test("the deadline still applies in the background", async () => {
  const result = await gateway.run({ command: "sleep 60", timeoutMs: 3000 }, { yieldMs: 10 });
  assert.equal(result.status, "running");
  assert.equal((await gateway.session(result.id).wait()).status, "timed_out");
});

test("moving a session to the background has no effect if it has ended or already runs there", async () => {
  const session = await gateway.start({ command: "sleep 60" }, { foreground: true });
  assert.deepEqual([await session.toBackground(), await session.toBackground()], [true, false]);
  await session.kill();
  assert.equal(await session.toBackground(), false);
  assert.equal(callbacksOf(session.id), 1);
});

test("aborting within yieldMs kills the command", async () => {
  const controller = new AbortController();
  const running = gateway.run({ command: "sleep 60" }, { yieldMs: 60_000, signal: controller.signal });
  await until("the command is running", () => fixture.alive().length > 0);
  controller.abort();
  assert.equal((await running).status, "killed");
});

test("creates the log folder and writes a log named after the session", async () => {
  const { id } = await gateway.run({ command: "echo kept; echo too >&2" }, { logFolder: "made/here" });
  assert.equal(readFileSync(fixture.path("made/here", `${id}.log`), "utf8"), "kept\ntoo\n");
  const outside = await gateway.run({ command: "true" }, { logFolder: "../elsewhere" });
  assert.equal(outside.error?.type, "PathOutOfScope");
});
