import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Approval } from "../../../src/core/approval.ts";
import type { GatewayEvent } from "../../../src/core/gateway.ts";
import { WorkerGateway } from "../../../src/gateway/worker-gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";

const YES = { decision: "once", who: "tester" } as const;

let fixture: GatewayFixture;
before(() => {
  fixture = new GatewayFixture();
});
after(() => fixture.close());

test("rejects a disabled operation, and the session continues", async () => {
  const gateway = await fixture.open({ policy: { permissions: { kill: "deny", write: "deny", list: "deny" } } });
  const session = await gateway.start({ command: "cat", stdin: "open" });
  await assert.rejects(session.kill(), { type: "CommandDenied", message: "The operation `kill` is disabled." });
  await assert.rejects(session.write("x"), { type: "CommandDenied" });
  await assert.rejects(session.closeStdin(), { type: "CommandDenied" });
  assert.throws(() => gateway.list(), { type: "CommandDenied" });
  assert.equal(session.info().status, "running");
  const other = await fixture.open();
  await other.session(session.id).kill();
});

test("the permission `notify` allows an operation and notifies listeners", async () => {
  const events: GatewayEvent[] = [];
  const policy = { permissions: { kill: "notify", run: "notify" } } as const;
  const gateway = await fixture.open({ policy, onEvent: (event) => events.push(event) });
  const session = await gateway.start({ command: "sleep 60" });
  await session.kill();
  assert.deepEqual(
    events.map((event) => (event.type === "operation" ? event.operation : event.type)),
    ["started", "run", "kill"],
  );
});

test("the permission `ask` requires one approval per operation", async () => {
  const asked: string[] = [];
  const gateway = await fixture.open({
    policy: { permissions: { kill: "ask" } },
    approve: async ({ request }) => {
      asked.push(request.command.text);
      return asked.length === 1 ? { decision: "deny", who: "tester", reason: "leave it" } : YES;
    },
  });
  const session = await gateway.start({ command: "sleep 60" });
  await assert.rejects(session.kill(), { type: "CommandDenied", message: /Denied by tester: leave it/ });
  assert.equal(session.info().status, "running");
  assert.equal((await session.kill()).status, "killed");
  assert.deepEqual(asked, Array(2).fill(`sallyport kill ${session.name}`));
});

test("a fleet worker does not wait for approval", async () => {
  const session = await (await fixture.open()).start({ command: "sleep 60" });
  const policy = { permissions: { kill: "ask" } } as const;
  const worker = await WorkerGateway.open({ state: fixture.state, configuration: null, policy }, fixture.workspace);
  try {
    const row = worker.row(session.id);
    assert.ok(row);
    await assert.rejects(Promise.race([worker.session(row).kill(), sleep(5000)]), { type: "ApprovalPending" });
  } finally {
    await worker.close();
    await session.kill();
  }
});

test("an approval shows the exact operation and covers nothing else", async () => {
  const asked: Approval[] = [];
  const answers = new Map<string, (decision: typeof YES) => void>();
  const gateway = await fixture.open({
    policy: { permissions: { write: "ask", kill: "ask" } },
    approve: (approval) => {
      asked.push(approval);
      return new Promise((resolve) => {
        answers.set(approval.request.stdin?.text ?? approval.request.command.text, resolve);
      });
    },
  });
  const session = await gateway.start({ command: "cat", stdin: "open" });
  const bytes = Buffer.from("harmless");
  const harmless = session.write(bytes);
  const evil = session.write("evil");
  bytes.write("swapped!"); // A later change of the buffer must not change the approved input.
  await until("both approvals are requested", () => asked.length === 2);
  answers.get("harmless")?.(YES);
  await harmless;
  assert.deepEqual(
    asked.map(({ request }) => request.stdin?.text),
    ["harmless", "evil"],
  );
  await until("the input was read", async () => (await session.logs()).text === "harmless");
  answers.get("evil")?.(YES);
  await evil;
  await until("the second input was read", async () => (await session.logs()).text === "harmlessevil");
  const killed = session.kill({ signal: "KILL" });
  await until("approval is requested", () => asked.length === 3);
  answers.get(`sallyport kill ${session.name} -s SIGKILL`)?.(YES);
  await killed;
});

test("two concurrent callers of the same operation each need an approval", async () => {
  const gateway = await fixture.open({
    agent: "twins",
    policy: { permissions: { write: "ask" } },
    approve: async () => YES,
  });
  const session = await gateway.start({ command: "cat", stdin: "open" });
  await Promise.all([session.write("twice"), session.write("twice")]);
  assert.equal(gateway.approvals.list({ agent: "twins", status: "used" }).length, 2);
  await session.kill();
});

test("running commands can require approval or be disabled", async () => {
  let asked = 0;
  const approve = async () => {
    asked++;
    return YES;
  };
  const asking = await fixture.open({ policy: { permissions: { run: "ask" } }, approve });
  assert.equal((await asking.run({ command: "true" })).status, "completed");
  assert.equal(asked, 1);
  const off = await fixture.open({ policy: { permissions: { run: "deny" } }, approve });
  assert.equal((await off.run({ command: "true" })).status, "denied");
  assert.equal(asked, 1);
});

test("read-only operations never require approval", async () => {
  const gateway = await fixture.open({
    policy: { permissions: { read: "ask", list: "ask" } },
    approve: () => assert.fail("an approval was requested"),
  });
  const session = await gateway.start({ command: "echo read me" });
  await session.wait();
  assert.equal((await session.logs()).text, "read me\n");
  assert.ok(gateway.list().length > 0);
});

test("audits an operation on another agent's session with that agent and the actor", async () => {
  const owner = await fixture.open({ agent: "owner" });
  const meddler = await fixture.open({ agent: "meddler" });
  const { id } = await owner.start({ command: "cat", stdin: "open" });
  await meddler.session(id).write("x");
  await meddler.session(id).kill();
  const entries = owner.audit.search({ session: id }).filter(({ kind }) => kind === "stdin" || kind === "signal");
  assert.deepEqual(
    entries.map(({ agent, actor }) => [agent, actor]),
    Array(2).fill(["owner", "meddler"]),
  );
});
