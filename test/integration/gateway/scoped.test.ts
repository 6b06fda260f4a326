import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

let fixture: GatewayFixture;
let gateway: Gateway;
before(async () => {
  fixture = new GatewayFixture();
  gateway = await fixture.open({ agent: "one" });
});
after(() => fixture.close());

test("a scoped gateway finds only its agent's sessions, by id, name and prefix", async () => {
  const other = await fixture.open({ agent: "other" });
  const { id: mine } = await gateway.run({ command: "true", name: "mine" });
  const { id: theirs } = await other.run({ command: "true", name: "theirs" });
  const scoped = gateway.scoped();
  for (const reference of [mine, "mine"]) assert.equal(scoped.session(reference).id, mine);
  for (const reference of [theirs, "theirs", theirs.slice(0, -1)]) {
    assert.throws(() => scoped.session(reference), {
      type: "SessionNotFound",
      message: `No such session: ${JSON.stringify(reference)}.`,
    });
    assert.equal(gateway.session(reference).id, theirs, "the unscoped gateway did not find the session");
  }
  // A common prefix of two agents' ids is unique for a view that sees only one of them.
  let shared = 0;
  while (mine[shared] === theirs[shared]) shared++;
  assert.throws(() => gateway.session(mine.slice(0, shared)), { type: "AmbiguousId" });
  assert.equal(scoped.session(mine.slice(0, shared)).id, mine);
  assert.deepEqual(
    scoped.list({ agent: "other" }).map(({ agent }) => agent),
    ["one"],
  );
  assert.deepEqual([scoped.count(), gateway.count()], [1, 2]);
});

test("permissions of a scope apply only where none are configured", async () => {
  const asked: string[] = [];
  const approve = async ({ request }: { request: { command: { text: string } } }) => {
    asked.push(request.command.text);
    return { decision: "once", who: "tester" } as const;
  };
  const open = await fixture.open({ approve, policy: { permissions: { kill: "autonomous" } } });
  const strict = open.scoped({ tiers: { run: "ask", kill: "deny", write: "ask", list: "ask" } });
  const session = await strict.start({ command: "cat", stdin: "open" });
  await session.write("x");
  await strict.permit("list");
  await session.kill();
  assert.deepEqual(asked, ["cat", `sallyport write ${session.name}`, "sallyport list"]);
  asked.length = 0;
  assert.equal((await open.run({ command: "true" })).status, "completed");
  assert.deepEqual(asked, []);
});

test("an operation waits for approval no longer than its scope allows", async () => {
  const silent = await fixture.open({ approve: async () => null });
  const session = await silent.start({ command: "sleep 60" });
  const patient = silent.scoped({ tiers: { kill: "ask" }, approvalTimeoutMs: 20 });
  await assert.rejects(patient.session(session.id).kill(), { type: "ApprovalPending" });
  const controller = new AbortController();
  const cancelled = silent.scoped({ tiers: { kill: "ask" }, signal: controller.signal });
  const killing = assert.rejects(cancelled.session(session.id).kill(), { name: "AbortError" });
  controller.abort();
  await killing;
  assert.equal(session.info().status, "running");
  await session.kill();
});

test("closing any view closes all views", async () => {
  const other = await fixture.open();
  const scoped = other.scoped();
  await scoped.close();
  assert.throws(() => other.list(), { type: "GatewayClosed" });
  await other.close();
});
