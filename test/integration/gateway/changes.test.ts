import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Change, Position } from "../../../src/core/gateway.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
after(() => fixture.close());

/** Reads changes until there are no more. */
function readOn(gateway: Gateway, from: Position, limit?: number): { changes: Change[]; position: Position } {
  const changes: Change[] = [];
  let position = from;
  for (let more = true; more; ) {
    const list = gateway.changes.since(position, limit === undefined ? {} : { limit });
    assert.ok(list, "the position is not valid");
    changes.push(...list.changes);
    ({ position, more } = list);
  }
  return { changes, position };
}

function brief(change: Change): string {
  if (change.type === "removed") return `removed ${change.id}`;
  if (change.type === "approval") return `approval ${change.approval.status}`;
  return `${change.session.name} ${change.session.status}`;
}

test("reports changes of another gateway in their current state", async () => {
  const [watcher, other] = [await fixture.open(), await fixture.open({ agent: "other" })];
  const before = watcher.changes.head();
  const stamp = watcher.changes.stamp();
  assert.equal(watcher.changes.stamp(), stamp, "the stamp changed without a change of a session");

  const session = await other.start({ command: "sleep 60", name: "sleeper" });
  assert.notEqual(watcher.changes.stamp(), stamp);
  const started = readOn(watcher, before);
  assert.deepEqual(started.changes.map(brief), ["sleeper running"]);
  assert.equal(started.changes[0]?.agent, "other");
  assert.deepEqual(readOn(watcher, started.position).changes, []);

  await session.extend(3_600_000);
  const extended = readOn(watcher, started.position);
  assert.deepEqual(extended.changes.map(brief), ["sleeper running"]);

  await session.kill();
  const ended = readOn(watcher, extended.position);
  assert.deepEqual(ended.changes.map(brief), ["sleeper killed"]);

  await session.remove();
  const removed = readOn(watcher, ended.position);
  assert.deepEqual(removed.changes.map(brief), [`removed ${session.id}`]);

  // A reader that starts at the old position gets the remaining changes.
  assert.deepEqual(readOn(watcher, before).changes.map(brief), [`removed ${session.id}`]);
});

test("reports a session again when its leftover processes exit", async () => {
  const gateway = await fixture.open();
  const session = await gateway.start({ command: "sleep 60 & echo $!" });
  await until("the main process has exited", () => session.info().lingering);
  const { position } = readOn(gateway, gateway.changes.head());
  await session.kill({ signal: "SIGKILL" });
  await until("the change is reported", () =>
    readOn(gateway, position).changes.some((each) => each.type === "session" && !each.session.lingering),
  );
});

test("reports approvals when they are requested, decided and used", async () => {
  const gateway = await fixture.open({
    approve: async () => null,
    policy: { scope: "anywhere", sandbox: "off", ask: "always" },
  });
  const from = gateway.changes.head();
  const run = gateway.run({ command: "true" });
  await until("approval is requested", () => gateway.approvals.list({ status: "pending" }).length === 1);
  const asked = readOn(gateway, from);
  assert.deepEqual(asked.changes.map(brief), ["approval pending"]);
  const [pending] = gateway.approvals.list({ status: "pending" });
  gateway.approvals.decide(pending?.id ?? "", { decision: "once", who: "tester", channel: "cli" });
  assert.equal((await run).status, "completed");
  const used = readOn(gateway, asked.position).changes.map(brief);
  assert.ok(used.includes("approval used"), used.join());
  assert.equal(used.filter((each) => each.endsWith("completed")).length, 1);
});

test("reading in small pages returns every change exactly once", async () => {
  const gateway = await fixture.open();
  const from = gateway.changes.head();
  const results = await Promise.all(Array.from({ length: 40 }, () => gateway.run({ command: "true" })));
  for (const limit of [1, 3, 7, 500]) {
    const { changes } = readOn(gateway, from, limit);
    const told = changes.flatMap((each) => (each.type === "session" ? [each.session] : []));
    assert.deepEqual(
      told.map(({ id }) => id).sort(),
      results.map(({ id }) => id).sort(),
      "a change was not reported exactly once",
    );
    assert.ok(told.every(({ status }) => status === "completed"));
    // Reading from the position of any change returns exactly the changes after it.
    const middle = changes[Math.floor(changes.length / 2)];
    assert.ok(middle);
    const rest = readOn(gateway, middle.position, limit).changes;
    assert.deepEqual(rest.at(-1)?.position, changes.at(-1)?.position);
    assert.ok(rest.length < changes.length);
  }
});

test("an agent's view contains only its own changes", async () => {
  const [first, second] = [await fixture.open({ agent: "first" }), await fixture.open({ agent: "second" })];
  const from = first.changes.head();
  await first.run({ command: "true" });
  await second.run({ command: "true" });
  const own = readOn(second.scoped(), from).changes;
  assert.deepEqual([...new Set(own.map(({ agent }) => agent))], ["second"]);
  assert.equal(readOn(second, from).changes.length, 2);
});

test("a position stays valid after its gateway is closed; one that is foreign or too old is rejected", async () => {
  const gateway = await fixture.open();
  const from = gateway.changes.head();
  await gateway.run({ command: "true", name: "told-later" });
  await gateway.close();
  const next = await fixture.open();
  assert.deepEqual(readOn(next, from).changes.map(brief), ["told-later completed"]);
  assert.equal(next.changes.since({ audit: from.audit + 1_000_000, change: 0 }), null);
  assert.equal(next.changes.since({ audit: 0, change: from.change + 1_000_000 }), null);
});
