import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { Approvals } from "../../../src/approval/approvals.ts";
import type { ApprovalDecision } from "../../../src/core/approval.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { ApprovalFixture } from "../../fixtures/approvals.ts";

const fixture = new ApprovalFixture();
after(() => fixture.remove());

const ONCE: ApprovalDecision = { decision: "once", who: "ann", channel: "cli" };
const USE = { agent: "builder", session: "s" };

test("a wait ends with a decision of this or another gateway", async () => {
  for (const decides of ["here", "there"]) {
    const here = fixture.approvals();
    const { id } = here.request(fixture.asked({ command: `ls /wait/${decides}` }));
    const waiting = here.wait(id);
    (decides === "here" ? here : fixture.approvals()).decide(id, ONCE);
    assert.equal((await waiting).status, "approved");
    assert.equal((await here.wait(id)).status, "approved", "a second wait returns immediately");
  }
});

test("a wait that times out returns the pending request and can be repeated", async () => {
  const approvals = fixture.approvals();
  const { id } = approvals.request(fixture.asked({ command: "ls /wait/short" }));
  assert.equal((await approvals.wait(id, { timeoutMs: 20 })).status, "pending");
  const again = approvals.wait(id);
  approvals.decide(id, { ...ONCE, decision: "deny", reason: "no" });
  assert.equal((await again).reason, "no");
});

test("a wait can be aborted", async () => {
  const approvals = fixture.approvals();
  const { id } = approvals.request(fixture.asked({ command: "ls /wait/off" }));
  const reason = new Error("changed my mind");
  const calling = new AbortController();
  const waiting = approvals.wait(id, { signal: calling.signal });
  calling.abort(reason);
  await assert.rejects(waiting, reason);
  await assert.rejects(approvals.wait(id, { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(approvals.get(id).status, "pending");
});

test("a request expires and then counts as denied", async () => {
  const approvals = fixture.approvals({ expiresMs: 40 });
  const asked = fixture.asked({ command: "ls /wait/expires" });
  const { id, createdAt, expiresAt } = approvals.request(asked);
  assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 40);
  assert.equal((await approvals.wait(id)).status, "expired");
  assert.throws(() => approvals.decide(id, ONCE), {
    type: "AlreadyDecided",
    message: `This request expired at ${expiresAt}.`,
  });
  assert.deepEqual(approvals.consume(id, asked.binding, USE), {
    ok: false,
    status: "expired",
    changed: [`the approval expired at ${expiresAt}`],
  });
  assert.deepEqual(
    fixture.audited.filter(({ detail }) => detail.approval === id).map(({ outcome }) => outcome),
    ["asked", "expired", "refused"],
  );
  const same = approvals.request(asked);
  assert.equal(same.id, id, "the next identical request learns of the expiry");
  approvals.told(same);
  assert.notEqual(approvals.request(asked).id, id, "a repeated request is a new one");
});

test("a request expires after 30 minutes, and an approval 30 minutes after the decision", () => {
  let now = Date.now();
  const approvals = fixture.approvals({ now: () => now });
  const asked = fixture.asked({ command: "ls /wait/default" });
  const { id } = approvals.request(asked);
  now += 29 * 60_000;
  assert.equal(approvals.get(id).status, "pending");
  approvals.decide(id, ONCE);
  now += 29 * 60_000;
  assert.equal(approvals.get(id).status, "approved");
  now += 2 * 60_000;
  assert.equal(approvals.get(id).status, "expired");
  assert.equal(approvals.consume(id, asked.binding, USE).ok, false);
});

test("lists expired requests as expired", () => {
  let now = Date.now();
  const approvals = fixture.approvals({ now: () => now, expiresMs: 1000 });
  const { id } = approvals.request(fixture.asked({ command: "ls /wait/list", agent: "lister" }));
  assert.deepEqual(
    approvals.list({ status: "pending", agent: "lister" }).map((each) => each.id),
    [id],
  );
  now += 1001;
  assert.deepEqual(approvals.list({ status: "pending", agent: "lister" }), []);
  assert.deepEqual(
    approvals.list({ status: ["expired"], agent: "lister" }).map((each) => each.id),
    [id],
  );
});

test("a wait fails when its gateway is closed", async () => {
  const database = openDatabase(join(fixture.folder, "closed.db"));
  const approvals = new Approvals(database, { ancestry: () => "none" });
  const { id } = approvals.request(fixture.asked({ command: "ls /wait/closed" }));
  const waiting = approvals.wait(id);
  database.close();
  await assert.rejects(waiting);
});
