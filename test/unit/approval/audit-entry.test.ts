import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ApprovalFixture } from "../../fixtures/approvals.ts";

const fixture = new ApprovalFixture();
after(() => fixture.remove());

function audited(command: string): string {
  fixture.approvals().request(fixture.asked({ command }));
  return fixture.audited.at(-1)?.summary ?? "";
}

test("masks a secret on a line of its own", () => {
  assert.equal(audited("cat > f <<E\npassword: hunter2\nE"), "cat > f <<E‹line break›password: •••‹line break›E");
});

test("does not leave part of a secret at the end of a truncated summary", () => {
  const summary = audited(`echo ${"x".repeat(180)} ghp_${"Ab1".repeat(12)}`);
  assert.doesNotMatch(summary, /ghp_/);
  assert.match(audited(`echo ${"y".repeat(5000)}`), /^echo y{195}… \(truncated\)$/);
});

test("masks the arguments of a grant according to its program", () => {
  const approvals = fixture.approvals();
  const target = { executable: "/usr/bin/7z", args: ["x", "-phunter2", "a.7z"], cwd: fixture.workspace, piped: false };
  const made = { agent: "builder", target, identity: null, scope: {}, who: "ann", channel: "cli", approval: null };
  const grant = approvals.grants.make(made);
  assert.deepEqual(grant.args, { kind: "exact", values: target.args }, "the stored grant is not masked");
  approvals.grants.revoke(grant.id, { who: "ann", channel: "cli" });
  const entries = fixture.audited.filter(({ kind }) => kind === "grant");
  assert.equal(entries.length, 2);
  assert.doesNotMatch(JSON.stringify(entries), /hunter2/);
});
