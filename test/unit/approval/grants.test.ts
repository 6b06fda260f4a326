import assert from "node:assert/strict";
import { appendFileSync, copyFileSync, mkdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Approvals } from "../../../src/approval/approvals.ts";
import type { GrantScope } from "../../../src/core/approval.ts";
import { ApprovalFixture, type Asked } from "../../fixtures/approvals.ts";

const fixture = new ApprovalFixture();
after(() => fixture.remove());
const scene = { agent: "builder", workspace: fixture.workspace };

function always(approvals: Approvals, asked: Asked, grant: GrantScope = {}) {
  const { id } = approvals.request(fixture.asked(asked));
  return approvals.decide(id, { decision: "always", who: "ann", channel: "cli", grant });
}

/** Reports whether grants cover a command. */
function granted(approvals: Approvals, command: string, other: Partial<typeof scene> & { cwd?: string } = {}): boolean {
  return approvals.grants.match(fixture.inspect(command, other.cwd), { ...scene, ...other }) !== null;
}

test("a granted command requires no further approval", () => {
  const approvals = fixture.approvals();
  assert.equal(granted(approvals, "uname -a"), false);
  always(approvals, { command: "uname -a" });
  assert.equal(granted(approvals, "uname -a"), true);
  assert.equal(granted(fixture.approvals(), "uname -a"), true, "another gateway sees the grant");
});

test("a grant does not apply after a file that the program reads has changed", () => {
  const approvals = fixture.approvals();
  const cwd = join(fixture.workspace, "repository");
  mkdirSync(join(cwd, ".git/hooks"), { recursive: true });
  for (const name of [".git/HEAD", ".git/config", "body"]) writeFileSync(join(cwd, name), "");
  const cases = [
    ["git fetch origin", ".git/hooks/reference-transaction"],
    ["git fetch upstream", ".git/config"],
    ["curl -d @body http://localhost/", "body"],
  ] as const;
  for (const [command, name] of cases) {
    always(approvals, { command, cwd });
    assert.equal(granted(approvals, command, { cwd }), true, command);
    appendFileSync(join(cwd, name), "#\n");
    assert.equal(granted(approvals, command, { cwd }), false, command);
  }
});

test("refuses a grant when a file has changed since the request", () => {
  const approvals = fixture.approvals();
  writeFileSync(join(fixture.workspace, "body"), "1");
  const { id } = approvals.request(fixture.asked({ command: "curl -d @body http://localhost/" }));
  writeFileSync(join(fixture.workspace, "body"), "2");
  const decision = { decision: "always", who: "ann", channel: "cli" } as const;
  assert.throws(() => approvals.decide(id, decision), { type: "NotGrantable", message: /body has changed since/ });
  assert.equal(approvals.get(id).status, "pending");
});

test("a grant covers only its agent, program, arguments and folder", () => {
  const approvals = fixture.approvals();
  always(approvals, { command: "id -u" });
  const no: [string, object?][] = [
    ["id -g"],
    ["id -u root"],
    ["id"],
    ["whoami -u"],
    ["id -u", { agent: "other" }],
    ["id -u", { cwd: fixture.folder }],
    ["id -u > x"],
    ["A=1 id -u"],
    ["id -u; whoami"],
    ["nice id -u"],
    ["id -u | cat"],
  ];
  for (const [command, other] of no) assert.equal(granted(approvals, command, other), false, command);
  for (const command of ["id -u", "/usr/bin/id -u", "id  '-u'", "echo x; id -u", "id -u && id -u", "id -u 2>&1"]) {
    assert.equal(granted(approvals, command), true, command);
  }
  assert.equal(approvals.grants.match(fixture.inspect("id -u"), { ...scene, addedEnv: ["LD_PRELOAD"] }), null);
});

test("creates one grant per command, which covers the command in a pipeline only if it was granted in one", () => {
  const approvals = fixture.approvals();
  const { id } = always(approvals, { command: "ls -l | wc -l && df -h" });
  const made = approvals.grants.list().filter(({ approval }) => approval === id);
  assert.deepEqual(made.map(({ executable, piped }) => [executable, piped]).sort(), [
    ["/usr/bin/df", false],
    ["/usr/bin/ls", true],
    ["/usr/bin/wc", true],
  ]);
  assert.equal(granted(approvals, "ls -l | wc -l"), true);
  assert.equal(granted(approvals, "df -h; ls -l"), true);
  assert.equal(granted(approvals, "df -h | wc -l"), false);
});

test("patterns widen the arguments and must match the requested ones", () => {
  const approvals = fixture.approvals();
  assert.throws(() => always(approvals, { command: "git fetch origin" }, { args: ["pull", "*"] }), {
    type: "NotGrantable",
    message: "A standing grant is not possible: the pattern pull * does not match the requested arguments.",
  });
  const pending = approvals.request(fixture.asked({ command: "git fetch origin" }));
  assert.equal(pending.status, "pending", "a rejected decision leaves the request pending");
  always(approvals, { command: "git fetch origin" }, { args: ["fetch", "*"] });
  assert.equal(granted(approvals, "git fetch upstream"), true);
  assert.equal(granted(approvals, "git fetch --upload-pack=sh"), false);
  assert.equal(granted(approvals, "git push origin"), false);
  assert.throws(() => always(approvals, { command: "git status; git log" }, { args: ["**"] }), {
    type: "NotGrantable",
  });
});

test("rejects a grant for a command that is not grantable and leaves the request pending", () => {
  const approvals = fixture.approvals();
  assert.throws(() => always(approvals, { command: "make" }), {
    type: "NotGrantable",
    message: "A standing grant is not possible: make runs code from project files.",
  });
  const { id } = approvals.request(fixture.asked({ command: "make" }));
  assert.equal(approvals.decide(id, { decision: "once", who: "ann", channel: "cli" }).status, "approved");
});

test("a grant expires in time when the clock is set back", () => {
  let now = Date.now();
  const approvals = fixture.approvals({ now: () => now });
  always(approvals, { command: "df -B1" }, { expiresMs: 60_000 });
  now -= 3_600_000;
  assert.equal(granted(approvals, "df -B1"), true);
  now += 60_000;
  assert.equal(granted(approvals, "df -B1"), false);
});

test("a grant can expire", () => {
  let now = Date.now();
  const approvals = fixture.approvals({ now: () => now });
  always(approvals, { command: "df -i" }, { expiresMs: 60_000 });
  assert.equal(granted(approvals, "df -i"), true);
  now += 60_001;
  assert.equal(granted(approvals, "df -i"), false);
  assert.throws(() => always(approvals, { command: "df -k" }, { expiresMs: 0 }), { type: "InvalidRequest" });
});

test("a grant can be revoked only once, and other gateways see the revocation", () => {
  const [here, there] = [fixture.approvals(), fixture.approvals()];
  const { id } = always(here, { command: "uptime -p" });
  const grant = here.grants.list().find(({ approval }) => approval === id);
  assert.ok(grant);
  assert.equal(granted(there, "uptime -p"), true);
  here.grants.revoke(grant.id, { who: "ann", channel: "cli" });
  assert.equal(granted(there, "uptime -p"), false);
  assert.throws(() => there.grants.revoke(grant.id, { who: "ann", channel: "cli" }), { type: "GrantNotFound" });
  assert.equal(there.grants.get(grant.id).revokedAt !== null, true);
  assert.deepEqual(
    fixture.audited.filter(({ detail }) => detail.grant === grant.id).map(({ outcome }) => outcome),
    ["granted", "revoked"],
  );
});

test("a repeated grant replaces the earlier one", () => {
  const approvals = fixture.approvals();
  const { id } = always(approvals, { command: "hostname -f" });
  approvals.consume(id, fixture.binding({ command: "hostname -f" }), { agent: "builder", session: "s" });
  always(approvals, { command: "hostname -f" }, { expiresMs: 1000 });
  const live = approvals.grants.list().filter(({ executable }) => executable.endsWith("hostname"));
  assert.equal(live.length, 1);
  assert.notEqual(live[0]?.expiresAt, null);
});

test("a grant does not cover another program at the same path", () => {
  const approvals = fixture.approvals();
  const tool = join(fixture.folder, "tool");
  copyFileSync("/bin/true", tool);
  // The folder counts as outside the workspace and the temporary directories.
  const outside = { ...fixture.asked({ command: `${tool} go` }), workspace: "/nowhere" };
  const facts = { ...outside.verdict, commands: outside.verdict.commands };
  const target = { executable: tool, args: ["go"], cwd: fixture.workspace, piped: false };
  const made = { agent: "builder", target, identity: null, scope: {}, who: "ann", channel: "cli", approval: null };
  const grant = approvals.grants.make(made);
  assert.equal(approvals.grants.get(grant.id).current, true);
  appendFileSync(tool, "x");
  assert.equal(approvals.grants.get(grant.id).current, false);
  assert.equal(approvals.grants.match(facts, scene), null);
});

test("a grant for a linked folder covers the link's original target", () => {
  const approvals = fixture.approvals();
  for (const name of ["one", "two"]) mkdirSync(join(fixture.workspace, name));
  const link = join(fixture.workspace, "link");
  symlinkSync("one", link);
  always(approvals, { command: "stat .", cwd: link });
  assert.equal(granted(approvals, "stat .", { cwd: link }), true);
  assert.equal(granted(approvals, "stat .", { cwd: join(fixture.workspace, "one") }), true);
  unlinkSync(link);
  symlinkSync("two", link);
  assert.equal(granted(approvals, "stat .", { cwd: link }), false);
});

test("running a command records the use of its grant, checking the command does not", () => {
  const approvals = fixture.approvals();
  always(approvals, { command: "nproc --all" });
  const [grant] = approvals.grants.match(fixture.inspect("nproc --all"), scene) ?? [];
  assert.equal(grant?.lastUsedAt, null);
  approvals.grants.used([grant?.id ?? ""]);
  assert.notEqual(approvals.grants.get(grant?.id ?? "").lastUsedAt, null);
});

test("a thousand grants and pending requests do not slow down a check", () => {
  const approvals = fixture.approvals();
  const facts = fixture.inspect("uname -a");
  const perCheck = () => {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 20; round++) {
      const startMs = performance.now();
      for (let count = 0; count < 20; count++) assert.ok(approvals.grants.match(facts, scene));
      best = Math.min(best, (performance.now() - startMs) / 20);
    }
    return best;
  };
  const before = perCheck();
  const database = fixture.database();
  database.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO grants SELECT 'many-' || i, agent, '/usr/bin/other-' || i, identity, args, cwd, piped, NULL, created_ms,
      created_by, NULL, NULL, NULL, (SELECT max(change) FROM grants) + i, NULL
      FROM n, (SELECT * FROM grants LIMIT 1);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO approvals (id, agent, status, created_ms, expires_ms, lasts_ms, fingerprint, request, binding, origin, quorum)
      SELECT 'many-' || i, agent, 'pending', created_ms, ${Date.now() + 3_600_000}, 3600000, 'print-' || i, request, binding, origin, quorum
      FROM n, (SELECT * FROM approvals LIMIT 1);
  `);
  const after = perCheck();
  // The limit is generous: it fails when the time grows with the number of grants, not when the machine is busy.
  assert.ok(after < before * 10 + 0.2, `${before} ms before, ${after} ms after`);
});
