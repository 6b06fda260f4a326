import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";

let fixture: GatewayFixture;
before(() => {
  fixture = new GatewayFixture();
});
after(() => fixture.close());

test("closing resolves a pending run as running, and the command continues", async () => {
  const gateway = await fixture.open();
  const go = fixture.path("go");
  const running = gateway.run({ command: `echo begun; until [ -e ${go} ]; do sleep 0.02; done; echo done` });
  await until("the command has started", async () => (await gateway.list())[0]?.streams.stdout?.bytes === 6);
  await gateway.close();
  const { status, stdout, exitCode, id } = await running;
  assert.deepEqual([status, stdout, exitCode], ["running", "begun\n", null]);
  writeFileSync(go, "");
  const other = await fixture.open();
  const info = await other.session(id).wait();
  assert.deepEqual([info.status, info.exitCode], ["completed", 0]);
  assert.equal((await other.session(id).logs()).text, "begun\ndone\n");
});

test("pending waits fail when the gateway is closed", async () => {
  const gateway = await fixture.open();
  const session = await gateway.start({ command: "sleep 60" });
  const waiting = session.wait();
  await gateway.close();
  await assert.rejects(waiting, { type: "GatewayClosed" });
  await assert.rejects(session.logs(), { type: "GatewayClosed" });
  assert.throws(() => session.info(), { type: "GatewayClosed" });
  await (await fixture.open()).session(session.id).kill();
});

test("records the exit of a session that another gateway left running", async () => {
  const watching = await fixture.open();
  const leaving = await fixture.open({ attach: false });
  const { id } = await leaving.start({ command: "sleep 0.2" });
  await leaving.close();
  const told: string[] = [];
  while (!told.includes(id)) {
    const item = await watching.work.next({ worker: "test", timeoutMs: 60_000 });
    assert.ok(item, "no work item was queued");
    told.push((item.payload as { session_id: string }).session_id);
    watching.work.ack(item.id, item.lease);
  }
});

test("every view shows the exit as soon as the run has resolved", async () => {
  const gateway = await fixture.open();
  const { id } = await gateway.run({ command: "true" });
  assert.equal(gateway.audit.search({ session: id, kind: "exit" }).length, 1);
  const next = await gateway.run({ command: "true" });
  assert.equal(gateway.session(next.id).info().status, "completed");
  const last = await gateway.run({ command: "true" });
  assert.equal(gateway.list({ limit: 1 })[0]?.status, "completed");
  assert.equal(gateway.count({ status: "running" }), 0);
  assert.ok(last.id);
});
