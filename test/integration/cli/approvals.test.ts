import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { after, test } from "node:test";
import { readAncestry } from "../../../src/approval/self-approval.ts";
import { ApprovalFixture } from "../../fixtures/approvals.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const fixture = new ApprovalFixture();
const box = new Sandbox();
after(() => {
  box.remove();
  fixture.remove();
});

const env = { SALLYPORT_STATE: fixture.folder };
const run = (...args: string[]) => box.run(args, { env });
const approvals = fixture.approvals();
const ask = (command: string) => approvals.request(fixture.asked({ command }));
const me = userInfo().username;
const skip = readAncestry() === "none" ? false : "these tests themselves run inside a session";

test("lists requests in a pipe tab-separated, complete and escaped", async () => {
  const { id, createdAt, expiresAt } = ask(`ls /listed \u202e${"x".repeat(500)}`);
  const { stdout, code } = await run("approvals");
  assert.equal(code, 0);
  const line = [id, "builder", "pending", createdAt, expiresAt, `ls /listed ‹U+202E›${"x".repeat(500)}`].join("\t");
  assert.ok(stdout.split("\n").includes(line));
});

test("--json prints the requests that match the filter", async () => {
  const { id } = approvals.request(fixture.asked({ command: "ls /json", agent: "json" }));
  const list = JSON.parse((await run("approvals", "--json", "--agent", "json")).stdout);
  assert.deepEqual(list, [JSON.parse(JSON.stringify(approvals.get(id)))]);
  assert.deepEqual(JSON.parse((await run("approvals", "--json", "--status", "denied")).stdout), []);
});

test("prints the complete request for an ID", async () => {
  const reasons = [{ rule: "delete", message: "It deletes.", span: { start: 4, end: 16 }, suggestion: null }];
  const asked = { command: "id; rm -rf /srv", env: { STAGE: "prod" }, intent: "clean up", reasons };
  const { id } = approvals.request(fixture.asked(asked));
  const { stdout } = await run("approvals", id);
  const expected = `builder wants to run
│ id; rm -rf /srv
      ^^^^^^^^^^^
with these environment variables
│ STAGE=prod
intent, as stated by the agent
│ clean up

reason       It deletes. (delete)
commands     id  (/usr/bin/id)
             rm -rf /srv  (/usr/bin/rm; deletes /srv)
directory    ${fixture.workspace}
sandbox      workspace-write
files        /usr/bin/bash
             /usr/bin/id
             /usr/bin/rm
always       not available: the request sets environment variables
expires      in 29m, then it is denied
id           ${id}
`;
  assert.equal(stdout.replace(/in 29m\d\ds/, "in 29m").replace("in 30m00s", "in 29m"), expected);
});

test("approve approves once and prints the command", { skip }, async () => {
  const { id } = ask("ls /approved");
  const { stdout, stderr, code } = await run("approve", id.slice(0, 30));
  assert.deepEqual({ stdout, stderr, code }, { stdout: "", stderr: "Approved: ls /approved\n", code: 0 });
  const { status, decisions } = approvals.get(id);
  const [{ at: _, ...decision } = { at: "" }] = decisions;
  assert.deepEqual(
    { status, decision },
    { status: "approved", decision: { decision: "once", who: me, channel: "cli" } },
  );
});

test("rejects a second decision", { skip }, async () => {
  const { id } = ask("ls /twice");
  await run("deny", id, "--reason", "not now");
  const { stderr, code } = await run("approve", id);
  assert.equal(code, 125);
  assert.match(stderr, new RegExp(`^sallyport: This request was denied by ${me} \\(cli\\) at .*Z\\.\n`));
  assert.equal(approvals.get(id).reason, "not now");
});

test("approve --always creates a grant that allow lists and revokes", { skip }, async () => {
  const { id } = ask("git fetch origin");
  const made = await run("approve", id, "--always", "--args", "fetch *", "--expires", "8h");
  assert.equal(made.stderr, "Approved: git fetch origin\nCreated grant: /usr/bin/git fetch *\n");
  const [grant] = JSON.parse((await run("allow", "--json")).stdout);
  assert.deepEqual(grant.args, { kind: "pattern", patterns: ["fetch", "*"] });
  assert.equal(Date.parse(grant.expiresAt) - Date.parse(grant.createdAt), 8 * 3600_000);
  const listed = (await run("allow", "list")).stdout;
  const words = [grant.id, "builder", "active", "-", grant.expiresAt, me, fixture.workspace, "/usr/bin/git fetch *"];
  assert.equal(listed, `${words.join("\t")}\n`);
  const removed = await run("allow", "remove", grant.id);
  assert.equal(removed.stderr, "Revoked grant: /usr/bin/git fetch *\n");
  assert.equal((await run("allow")).stdout, "");
  assert.match((await run("allow", "--all")).stdout, /\trevoked\t/);
});

test("an unknown ID does not prevent the approval of the other requests", { skip }, async () => {
  const { id } = ask("ls /several");
  const { stderr, code } = await run("approve", "nothing", id);
  assert.match(stderr, /^sallyport: No such approval request: "nothing"\./);
  assert.match(stderr, /Approved: ls \/several\n$/);
  assert.notEqual(code, 0);
});

const MISTAKES: [args: string[], message: RegExp][] = [
  [["approve"], /no approval request given/],
  [["deny"], /no approval request given/],
  [["allow", "remove"], /no grant given/],
  [["allow", "frob"], /unknown subcommand `allow frob`; use list, add or remove/],
  [["approve", "x", "--expires", "8h"], /require `--always`/],
  [["approve", "x", "--always", "--expires", "0"], /must be greater than 0/],
  [["approve", "x", "--always", "--expires", "soon"], /must be a duration/],
  [["approvals", "--status", "open"], /must be one of pending, approved/],
];

for (const [args, message] of MISTAKES) {
  test(`rejects sallyport ${args.join(" ")}`, async () => {
    const { stderr, code } = await run(...args);
    assert.match(stderr, message);
    assert.equal(code, 125);
  });
}

test("rejects --always for a command that can only be approved once", { skip }, async () => {
  const { id } = ask("make all");
  const { stderr } = await run("approve", "--always", id);
  assert.match(stderr, /^sallyport: A standing grant is not possible: make runs code from project files\.\n/);
  assert.equal(approvals.get(id).status, "pending");
});
