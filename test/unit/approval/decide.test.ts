import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApprovalDecision } from "../../../src/core/approval.ts";
import { ApprovalFixture } from "../../fixtures/approvals.ts";

const fixture = new ApprovalFixture();
after(() => fixture.remove());

const ONCE: ApprovalDecision = { decision: "once", who: "ann", channel: "cli" };
const DENY: ApprovalDecision = { decision: "deny", who: "bob", channel: "cli", reason: "not on a Friday" };
const USE = { agent: "builder", session: "s1" };

test("requesting, approving and using an approval each leave an audit entry", () => {
  const approvals = fixture.approvals();
  const asked = fixture.asked({ command: "ls /srv", intent: "look around" });
  const pending = approvals.request(asked);
  assert.equal(pending.status, "pending");
  assert.equal(pending.request.intent?.text, "look around");
  assert.equal(approvals.decide(pending.id, ONCE).status, "approved");
  assert.deepEqual(approvals.consume(pending.id, asked.binding, USE), { ok: true });
  const used = approvals.get(pending.id);
  assert.deepEqual([used.status, used.session], ["used", "s1"]);
  assert.deepEqual(fixture.outcomes().splice(0), ["asked", "approved", "used"]);
});

test("an approval can be used only once", () => {
  const approvals = fixture.approvals();
  const asked = fixture.asked({ command: "ls /srv/once" });
  const { id } = approvals.request(asked);
  approvals.decide(id, ONCE);
  approvals.consume(id, asked.binding, USE);
  const again = approvals.consume(id, asked.binding, { ...USE, session: "s2" });
  assert.deepEqual(again, { ok: false, status: "used", changed: ["the approval was already used for session s1"] });
});

test("an approval is valid only for the agent that requested it", () => {
  const approvals = fixture.approvals();
  const asked = fixture.asked({ command: "ls /srv/mine" });
  const { id } = approvals.request(asked);
  approvals.decide(id, ONCE);
  const other = approvals.consume(id, asked.binding, { agent: "other", session: "s3" });
  assert.deepEqual(other, { ok: false, status: "approved", changed: ["the approval belongs to another agent"] });
});

test("a denial keeps its reason and cannot be changed", () => {
  const [here, there] = [fixture.approvals(), fixture.approvals()];
  const asked = fixture.asked({ command: "ls /srv/denied" });
  const { id } = here.request(asked);
  const denied = there.decide(id.slice(0, 30), DENY);
  assert.deepEqual([denied.status, denied.reason], ["denied", "not on a Friday"]);
  assert.throws(() => here.decide(id, ONCE), {
    type: "AlreadyDecided",
    message: /^This request was denied by bob \(cli\) at \d{4}-.*Z\.$/,
  });
  const consumed = here.consume(id, asked.binding, USE);
  assert.deepEqual(consumed, { ok: false, status: "denied", changed: ["the request was denied"] });
});

test("repeating a request returns the same approval until it is used", () => {
  const [here, there] = [fixture.approvals(), fixture.approvals()];
  const asked = fixture.asked({ command: "ls /srv/again" });
  const first = here.request(asked);
  assert.equal(there.request(fixture.asked({ command: "ls /srv/again" })).id, first.id);
  assert.notEqual(there.request(fixture.asked({ command: "ls /srv/again", agent: "other" })).id, first.id);
  assert.notEqual(there.request(fixture.asked({ command: "ls /srv/again", env: { A: "1" } })).id, first.id);
  here.decide(first.id, ONCE);
  const approved = there.request(asked);
  assert.deepEqual([approved.id, approved.status], [first.id, "approved"]);
  here.consume(first.id, asked.binding, USE);
  assert.notEqual(there.request(asked).id, first.id);
});

test("a pending approval cannot be used", () => {
  const approvals = fixture.approvals();
  const asked = fixture.asked({ command: "ls /srv/early" });
  const { id } = approvals.request(asked);
  const consumed = approvals.consume(id, asked.binding, USE);
  assert.deepEqual(consumed, { ok: false, status: "pending", changed: ["the request is still pending"] });
});

test("rejects decisions by agents", () => {
  const approvals = fixture.approvals();
  const { id } = approvals.request(fixture.asked({ command: "ls /srv/self" }));
  const attempts: unknown[] = [
    { ...ONCE, channel: "agent" },
    { ...ONCE, channel: "toolset" },
    { ...ONCE, channel: "mcp" },
    { ...ONCE, who: "agent:builder" },
    { ...ONCE, who: "" },
    { ...ONCE, who: "builder", channel: "library" },
  ];
  for (const attempt of attempts) {
    assert.throws(() => approvals.decide(id, attempt as ApprovalDecision), { type: "SelfApproval" });
  }
  for (const above of ["keeper", "unknown"] as const) {
    const inside = fixture.approvals({ ancestry: () => above });
    assert.throws(() => inside.decide(id, ONCE), { type: "SelfApproval" });
    assert.throws(() => inside.decide(id, DENY), { type: "SelfApproval" });
  }
  assert.equal(approvals.get(id).status, "pending");
});

test("distinguishes unknown IDs from ambiguous ones", () => {
  const approvals = fixture.approvals();
  assert.throws(() => approvals.get("nothing"), { type: "ApprovalNotFound" });
  assert.throws(() => approvals.get("0"), { type: "AmbiguousId" });
});

test("calls listeners once for each new request, after it is stored", async () => {
  const approvals = fixture.approvals();
  const heard: string[] = [];
  const stop = approvals.onRequest(({ id }) => heard.push(id));
  const { id } = approvals.request(fixture.asked({ command: "ls /srv/heard" }));
  approvals.request(fixture.asked({ command: "ls /srv/heard" }));
  assert.deepEqual(heard, []);
  await Promise.resolve();
  assert.deepEqual(heard, [id]);
  stop();
  approvals.request(fixture.asked({ command: "ls /srv/unheard" }));
  await Promise.resolve();
  assert.deepEqual(heard, [id]);
});

test("a decision that cannot be audited is not recorded", () => {
  const { id } = fixture.approvals().request(fixture.asked({ command: "ls /srv/audit" }));
  const unaudited = fixture.approvals({
    audit: () => {
      throw new Error("the disk is full");
    },
  });
  assert.throws(() => unaudited.decide(id, ONCE), /the disk is full/);
  assert.equal(fixture.approvals().get(id).status, "pending");
});

test("rejects unknown decisions and oversized fields", () => {
  const approvals = fixture.approvals();
  const { id } = approvals.request(fixture.asked({ command: "ls /srv/shape" }));
  const wrong: unknown[] = [
    { ...ONCE, decision: "yes" },
    { ...ONCE, decision: undefined },
    { ...ONCE, who: 7 },
    { ...ONCE, who: "x".repeat(300) },
    { ...DENY, reason: "x".repeat(5000) },
    { ...ONCE, decision: "always", grant: { args: "*" } },
    { ...ONCE, decision: "always", grant: { args: [1] } },
    { ...ONCE, decision: "always", grant: { expiresMs: -1 } },
    { ...ONCE, decision: "always", grant: { expiresMs: Number.NaN } },
  ];
  for (const decision of wrong) {
    assert.throws(() => approvals.decide(id, decision as ApprovalDecision), { type: "InvalidRequest" });
  }
  assert.equal(approvals.get(id).status, "pending");
});

test("limits an agent to a thousand pending requests", () => {
  const approvals = fixture.approvals();
  const { id } = approvals.request(fixture.asked({ command: "ls /srv/flood", agent: "flood" }));
  fixture.database().exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
    INSERT INTO approvals (id, agent, status, created_ms, expires_ms, fingerprint, request, binding, origin, quorum)
      SELECT 'flood-' || i, agent, 'pending', created_ms, expires_ms, 'print-' || i, request, binding, origin, quorum
      FROM n, (SELECT * FROM approvals WHERE id = '${id}');
  `);
  const again = () => approvals.request(fixture.asked({ command: "ls /srv/one-more", agent: "flood" }));
  assert.throws(again, { type: "ResourceLimitExceeded" });
  assert.equal(approvals.request(fixture.asked({ command: "ls /srv/flood", agent: "flood" })).id, id);
  approvals.decide(id, ONCE);
  assert.equal(again().status, "pending");
});

test("deletes old decided requests and keeps pending ones", () => {
  const approvals = fixture.approvals();
  const open = approvals.request(fixture.asked({ command: "ls /srv/open" }));
  const settled = approvals.request(fixture.asked({ command: "ls /srv/settled" }));
  approvals.decide(settled.id, DENY);
  assert.ok(approvals.forget(Date.now() + 1) > 0);
  assert.throws(() => approvals.get(settled.id), { type: "ApprovalNotFound" });
  assert.equal(approvals.get(open.id).status, "pending");
});

test("an expired request cannot be approved, even when many others are due to expire", () => {
  let now = Date.now();
  const approvals = fixture.approvals({ now: () => now, expiresMs: 1000 });
  const { id } = approvals.request(fixture.asked({ command: "ls /srv/late" }));
  fixture.database().exec(
    `INSERT INTO approvals (id, agent, status, created_ms, expires_ms, fingerprint, request, binding, origin, quorum)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
     SELECT printf('0000-%d', i), agent, 'pending', created_ms, expires_ms - 1, i, request, binding, origin, quorum
     FROM approvals, n WHERE id = '${id}'`,
  );
  now += 1001;
  assert.throws(() => approvals.decide(id, ONCE), { type: "AlreadyDecided" });
  assert.equal(approvals.get(id).status, "expired");
});

test("requests and approvals expire in time when the clock is set back, in every gateway", () => {
  const HOUR = 3_600_000;
  let now = Date.now();
  const options = { now: () => now, expiresMs: 60_000 };
  const approvals = fixture.approvals(options);
  const pending = approvals.request(fixture.asked({ command: "ls /srv/pending" }));
  const approved = approvals.request(fixture.asked({ command: "ls /srv/approved" }));
  approvals.decide(approved.id, ONCE);
  now -= HOUR;
  const statuses = () => [pending, approved].map(({ id }) => approvals.get(id).status);
  assert.deepEqual(statuses(), ["pending", "approved"]);
  // The clock was set back once more while no gateway was running.
  now -= HOUR;
  fixture.approvals(options).list();
  now += 59_999;
  assert.deepEqual(statuses(), ["pending", "approved"]);
  now += 1;
  assert.deepEqual(statuses(), ["expired", "expired"]);
});

test("limits the total size of an agent's pending requests", () => {
  const approvals = fixture.approvals();
  const asked = fixture.asked({ command: "cat", agent: "writer" });
  const long = (n: number) => ({
    ...asked,
    binding: { ...asked.binding, stdin: String(n) },
    stdin: "x".repeat(7 << 20),
  });
  assert.throws(
    () => {
      for (let n = 0; n < 20; n++) approvals.request(long(n));
    },
    { type: "ResourceLimitExceeded", message: /would exceed 64 MiB/ },
  );
  assert.ok(approvals.list({ agent: "writer" }).length > 5);
  assert.equal(approvals.request(fixture.asked({ command: "ls /short", agent: "writer" })).status, "pending");
});
