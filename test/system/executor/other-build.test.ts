import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import type { SessionInfo } from "../../../src/core/session.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { buildKeeper } from "../../fixtures/keeper-build.ts";
import { OtherGateway } from "../../fixtures/other-gateway.ts";
import { exists, send, zygotesOf } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";

const build = buildKeeper("another-one");
const fixture = new GatewayFixture();
const old = await fixture.open();
after(async () => {
  await fixture.close();
  build.remove();
});

test("a gateway with another keeper build starts its own zygote, and reaches the existing sessions", async () => {
  const running = await old.start({ command: "echo old; cat; exit 4", stdin: "open", name: "old-running" });
  await old.start({ command: "sleep 60", name: "old-killed" });
  const lingering = await old.start({ command: "sleep 60 & exit 5", name: "old-lingering" });
  await lingering.wait();
  const [before] = zygotesOf(fixture.state);

  const upgraded = await OtherGateway.open(fixture, { env: { SALLYPORT_KEEPER: build.keeper } });
  const { stdout } = await upgraded.ask<{ stdout: string }>({ call: "run", request: { command: "echo new" } });
  assert.equal(stdout, "new\n");
  await until("two zygotes are running", () => zygotesOf(fixture.state).length === 2);
  assert.ok(before !== undefined && zygotesOf(fixture.state).includes(before), "the old zygote has exited");

  await until(
    "the command has written its first output",
    async () => (await upgraded.ask({ call: "logs", id: "old-running" })) === "old\n",
  );
  assert.equal((await upgraded.ask<SessionInfo>({ call: "info", id: "old-running" })).status, "running");
  assert.equal((await upgraded.ask<SessionInfo>({ call: "kill", id: "old-killed" })).status, "killed");
  assert.equal((await upgraded.ask<SessionInfo>({ call: "info", id: "old-lingering" })).lingering, true);
  const waiting = upgraded.ask<SessionInfo>({ call: "wait", id: "old-running" });
  await running.closeStdin();
  const ended = await waiting;
  assert.deepEqual([ended.status, ended.exitCode], ["completed", 4]);
  assert.equal((await upgraded.ask<SessionInfo>({ call: "kill", id: "old-lingering" })).lingering, false);

  const { id } = await upgraded.ask<SessionInfo>({ call: "start", request: { command: "echo newer; sleep 60" } });
  await until(
    "the old gateway reads the output of the new gateway's session",
    async () => (await old.session(id).logs()).text === "newer\n",
  );
  assert.equal((await old.session(id).kill()).status, "killed");
  assert.equal((await old.run({ command: "echo old still works" })).stdout, "old still works\n");
  await upgraded.close();
});

test("the zygote of one build exits without affecting commands of the other", async () => {
  const upgraded = await OtherGateway.open(fixture, { env: { SALLYPORT_KEEPER: build.keeper } });
  const { id, pid } = await upgraded.ask<SessionInfo>({ call: "start", request: { command: "exec sleep 60" } });
  const [first = 0] = zygotesOf(fixture.state);
  send(first, "SIGTERM");
  await until("one of the zygotes has exited", () => zygotesOf(fixture.state).length === 1 || !exists(first));
  assert.equal((await upgraded.ask<SessionInfo>({ call: "info", id })).status, "running");
  assert.ok(pid !== null && exists(pid));
  assert.equal((await upgraded.ask<SessionInfo>({ call: "kill", id })).status, "killed");
  await upgraded.close();
});

test("a gateway whose keeper was replaced uses the old zygote, and reports the change when it has exited", async () => {
  const upgraded = buildKeeper("before");
  const elsewhere = new GatewayFixture();
  after(async () => {
    await elsewhere.close();
    upgraded.remove();
  });
  const gateway = await OtherGateway.open(elsewhere, { env: { SALLYPORT_KEEPER: upgraded.keeper } });
  const run = () => gateway.ask<{ stdout: string }>({ call: "run", request: { command: "echo fine" } });
  assert.equal((await run()).stdout, "fine\n");
  writeFileSync(`${upgraded.keeper}.id`, "after");
  assert.equal((await run()).stdout, "fine\n");
  await elsewhere.stopKeepers();
  await assert.rejects(run(), { type: "KeeperUnavailable", message: /replaced with another build/ });
  await gateway.close();
});
