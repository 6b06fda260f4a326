import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { pidNamespace, readAncestry } from "../../../src/approval/self-approval.ts";
import type { RunResult } from "../../../src/core/result.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { ApprovalFixture } from "../../fixtures/approvals.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { ENTRY } from "../../fixtures/installed.ts";

const SCRIPT = fileURLToPath(new URL("person-or-not.ts", import.meta.url));
const ASK = `${process.execPath} ${SCRIPT} '${pidNamespace()}'`;
const INSIDE = "Only a person can decide this request: this process runs inside a Sallyport session.\n";

const skip = readAncestry() === "none" ? false : "these tests themselves run inside a session";
const fixture = new GatewayFixture();
const approvalFixture = new ApprovalFixture();
let gateway: Gateway;
before(async () => {
  const approve = async () => ({ decision: "once" as const, who: "ann" });
  gateway = await fixture.open({ configuration: null, approve });
});
after(async () => {
  await fixture.close();
  approvalFixture.remove();
});

let count = 0;
/** Runs a script from a file, which policy does not analyze, with an approver who approves everything. */
async function runScript(command: string): Promise<RunResult> {
  const name = `attempt-${++count}.sh`;
  writeFileSync(fixture.path(name), command);
  return gateway.run({ command: `bash ${name}` }, { approvalTimeoutMs: 20_000 });
}

test("accepts a decision by a process outside a session", { skip }, () => {
  assert.equal(execFileSync(process.execPath, [SCRIPT, pidNamespace()], { encoding: "utf8" }), "person\n");
});

/** Returns shell text that runs `start`, waits for the detached process and prints its result. */
const afterwards = (start: string) => `rm -f done\n${start}\nuntil [ -e done ]; do sleep 0.05; done\ncat out`;
const detached = `${ASK} > out; touch done`;

/** Ways in which a command may try to decide on an approval request, each as the end of a test name. */
const ATTEMPTS: [name: string, command: string][] = [
  ["that makes it directly", ASK],
  ["with an empty environment", `env -i ${ASK}`],
  ["in its own session", `setsid --wait ${ASK}`],
  ["under another name", `exec -a 'login -- ann' ${ASK}`],
  ["that forks twice", afterwards(`( ( ${detached} ) & )`)],
  [
    "that forks twice, in its own session, without an environment",
    afterwards(`( env -i PATH=/usr/bin:/bin setsid sh -c "${detached}" & )`),
  ],
  [
    "that runs as a Python daemon",
    afterwards(`python3 -c "
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv('/bin/sh', ['sh', '-c', '''${detached}'''])
    os._exit(0)
os.wait()"`),
  ],
  ["in its own terminal", `script -qec "${ASK}" /dev/null | tr -d '\\r'`],
];

for (const [name, command] of ATTEMPTS) {
  test(`rejects a decision by a command ${name}`, { skip }, async () => {
    const { stdout, stderr, error } = await runScript(command);
    assert.equal(stdout, INSIDE, error?.message ?? stderr);
  });
}

test("rejects a decision by a process left by a background command", { skip }, async () => {
  writeFileSync(fixture.path("late.sh"), `(sleep 0.3; ${ASK} > late; touch late-done) & exit 0`);
  const session = await gateway.start({ command: "bash late.sh" });
  await session.wait();
  const { stdout } = await runScript("until [ -e late-done ]; do sleep 0.05; done; cat late");
  assert.equal(stdout, INSIDE);
});

test("rejects a decision by a command in its own PID namespace", { skip }, async (context) => {
  const unshare = ["-Urpf", "--mount-proc"];
  if (spawnSync("unshare", [...unshare, "true"]).status !== 0) return context.skip("unshare is not allowed here");
  const { stdout } = await runScript(`unshare ${unshare.join(" ")} ${ASK}`);
  assert.match(
    stdout,
    /^Only a person can decide this request: this process and the request are in different PID namespaces/,
  );
});

test("rejects a decision by a command with another file system over /proc", { skip }, async (context) => {
  if (spawnSync("unshare", ["-Urm", "true"]).status !== 0) return context.skip("unshare is not allowed here");
  const { stdout } = await runScript(`unshare -Urm sh -c "mount -t tmpfs none /proc && ${ASK}"`);
  assert.match(
    stdout,
    /^Only a person can decide this request: the parent processes of this process cannot be determined/,
  );
});

test("rejects sallyport approve, deny and allow remove inside a session", { skip }, async () => {
  const approvals = approvalFixture.approvals();
  const { id } = approvals.request(approvalFixture.asked({ command: "ls /inside" }));
  const other = approvals.request(approvalFixture.asked({ command: "ls /granted" }));
  approvals.decide(other.id, { decision: "always", who: "ann", channel: "cli" });
  const [grant] = approvals.grants.list();
  const lines = [`approve ${id}`, `approve --always ${id}`, `deny ${id}`, `allow remove ${grant?.id}`];
  for (const line of lines) {
    const { stderr, exitCode } = await runScript(
      `env -i setsid --wait ${process.execPath} ${ENTRY} ${line} --json --state ${approvalFixture.folder}`,
    );
    assert.notEqual(exitCode, 0);
    assert.equal(JSON.parse(stderr).error.type, "SelfApproval");
  }
  assert.equal(approvals.get(id).status, "pending");
  assert.equal(approvals.grants.list().length, 1);
});
