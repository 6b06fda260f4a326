import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { AuditLog } from "../../../src/storage/audit.ts";
import { ApprovalFixture } from "../../fixtures/approvals.ts";
import { killAndWait } from "../../fixtures/processes.ts";

const fixture = new ApprovalFixture();
const children: ChildProcess[] = [];
after(async () => {
  await Promise.all(children.map((child) => killAndWait(child)));
  fixture.remove();
});

async function gateway(): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL("gateway-process.ts", import.meta.url)), [fixture.file]);
  children.push(child);
  await once(child, "message");
  return child;
}

/** Sends both commands before either process can respond. */
async function together(gateways: ChildProcess[], orders: object[]): Promise<unknown[]> {
  const answers = gateways.map((child) => once(child, "message"));
  gateways.forEach((child, index) => {
    child.send(orders[index] ?? {});
  });
  return (await Promise.all(answers)).map(([answer]) => answer);
}

test("the first of two concurrent decisions counts, and the error for the second names it", async () => {
  const here = fixture.approvals();
  const gateways = await Promise.all([gateway(), gateway()]);
  for (let round = 0; round < 20; round++) {
    const { id } = here.request(fixture.asked({ command: `ls /race/${round}` }));
    const answers = await together(gateways, [
      { do: "decide", id, decision: { decision: "once", who: "ann", channel: "cli" } },
      { do: "decide", id, decision: { decision: "deny", who: "bob", channel: "cli" } },
    ]);
    const { status, decisions } = here.get(id);
    assert.equal(decisions.length, 1);
    const won = decisions[0]?.who === "ann" ? 0 : 1;
    assert.equal(answers[won], status);
    const lost = answers[1 - won] as { type: string; message: string };
    assert.equal(lost.type, "AlreadyDecided");
    assert.match(lost.message, new RegExp(`was ${status} by ${decisions[0]?.who} \\(cli\\)`));
  }
});

test("exactly one of two processes that use the same approval at once succeeds", async () => {
  const here = fixture.approvals();
  const gateways = await Promise.all([gateway(), gateway()]);
  for (let round = 0; round < 20; round++) {
    const asked = fixture.asked({ command: `ls /use/${round}` });
    const { id } = here.request(asked);
    here.decide(id, { decision: "once", who: "ann", channel: "cli" });
    const order = { do: "consume", id, binding: asked.binding };
    const answers = await together(gateways, [
      { ...order, session: "one" },
      { ...order, session: "two" },
    ]);
    const oks = answers.map((answer) => (answer as { ok: boolean }).ok);
    assert.deepEqual(oks.toSorted(), [false, true]);
    assert.equal(here.get(id).session, oks[0] ? "one" : "two");
  }
});

test("an unused approval survives kill -9, and a used one stays used", async () => {
  const asked = fixture.asked({ command: "ls /killed" });
  const { id } = fixture.approvals().request(asked);
  const decider = await gateway();
  const [status] = await together(
    [decider],
    [{ do: "decide", id, decision: { decision: "once", who: "ann", channel: "cli" } }],
  );
  assert.equal(status, "approved");
  await killAndWait(decider);

  assert.equal(fixture.approvals().request(asked).id, id, "the request was no longer approved after the crash");
  const user = await gateway();
  user.send({ do: "consume", id, binding: asked.binding, session: "s1", thenDie: true });
  await once(user, "exit");

  const consumed = fixture.approvals().consume(id, asked.binding, { agent: "builder", session: "s2" });
  assert.deepEqual(consumed, { ok: false, status: "used", changed: ["the approval was already used for session s1"] });
});

test("audits each decision and use in an unbroken chain", () => {
  const audit = new AuditLog(fixture.database());
  const report = audit.verify();
  assert.equal(report.broken, null);
  const entries = audit.search({ kind: "approval", limit: 1000 });
  assert.equal(entries.filter(({ outcome }) => outcome === "used").length, 21);
  assert.equal(entries.filter(({ outcome }) => outcome === "approved" || outcome === "denied").length, 21);
});
