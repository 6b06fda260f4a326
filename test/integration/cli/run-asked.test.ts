import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readAncestry } from "../../../src/approval/self-approval.ts";
import type { Approval, Grant } from "../../../src/core/approval.ts";
import { killAndWait } from "../../fixtures/processes.ts";
import { ENTRY, Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const inside = readAncestry() === "none" ? false : "these tests themselves run inside a session";
const skip = spawnSync("script", ["--version"]).status === 0 ? inside : "script, which gives a terminal, is not here";
const box = new Sandbox();
after(() => box.remove());

/** Everything is asked about here, so that what a grant could cover is asked about too. */
const workspace = join(box.folder, "workspace");
mkdirSync(workspace);
writeFileSync(join(workspace, "sallyport.json"), JSON.stringify({ ask: "always" }));

const ALLOW = "Allow it? (o once, a always, d deny, l later)";

/** `sallyport run` on a terminal, when these keys are pressed at what is shown before them. */
async function typed(
  args: string,
  keys: [shown: string, key: string][],
  meanwhile?: () => Promise<unknown>,
): Promise<{ screen: string; code: number }> {
  const line = `stty cols 200 rows 24 -echo; ${process.execPath} ${ENTRY} run ${args}; echo "ended $?"`;
  // dash would die of the Ctrl-C that was meant for the command; bash goes on to tell how it ended.
  const env = { ...process.env, SHELL: "/bin/bash", SALLYPORT_STATE: box.state, NO_COLOR: "1" };
  const child = spawn("script", ["-qec", line, "/dev/null"], { cwd: workspace, env, stdio: "pipe" });
  let screen = "";
  let at = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    screen += chunk.toString();
  });
  for (const [shown, key] of keys) {
    await until(`the terminal shows ${shown}; it shows ${screen}`, () => screen.includes(shown, at));
    at = screen.indexOf(shown, at) + shown.length;
    child.stdin.write(key);
  }
  await meanwhile?.();
  await until(`it has ended; the terminal shows ${screen}`, () => /ended \d+/.test(screen));
  await killAndWait(child);
  return { screen, code: Number(/ended (\d+)/.exec(screen)?.[1]) };
}

async function approvalOf(command: string): Promise<Approval> {
  const all = JSON.parse((await box.run(["approvals", "--all", "--json"])).stdout) as Approval[];
  const found = all.find(({ request }) => request.command.text === command);
  assert.ok(found, `${command} was asked about`);
  return found;
}

test("Ctrl-C at the question ends the command line, as anywhere else", { skip }, async () => {
  for (const options of ["", "--json"]) {
    const { screen, code } = await typed(`${options} -c 'echo hello'`, [["Allow it?", "\x03"]]);
    assert.equal(code, 130);
    assert.doesNotMatch(screen, /sallyport approve|Unexpected/);
  }
});

test("who leaves the answer to somebody else is told how that one gives it", { skip }, async () => {
  for (const later of ["l\r", "\x04"]) {
    const { screen, code } = await typed("-c 'ls -d /srv'", [
      [ALLOW, later],
      ["Or refuse it: ", "\x03"],
    ]);
    assert.match(screen, /Approve it in another terminal: sallyport approve [0-9a-f-]{36}/);
    assert.equal(code, 130);
  }
});

test("once: after answers that are none the question comes again", { skip }, async () => {
  const { screen, code } = await typed("-c 'ls -d /tmp'", [
    [ALLOW, "yes\r"],
    [ALLOW, "\r"],
    [ALLOW, "o\r"],
  ]);
  assert.equal(code, 0, screen);
  assert.match(screen, /│ ls -d \/tmp[\s\S]*^\/tmp\r$/m);
  const { decisions } = await approvalOf("ls -d /tmp");
  assert.deepEqual(
    decisions.map(({ decision, who, channel }) => ({ decision, who, channel })),
    [{ decision: "once", who: userInfo().username, channel: "terminal" }],
  );
});

test("deny with a reason", { skip }, async () => {
  const { screen, code } = await typed("-c 'ls -d /opt'", [
    [ALLOW, "d\r"],
    ["Reason for the agent:", "not today\r"],
  ]);
  assert.equal(code, 126, screen);
  const { status, reason } = await approvalOf("ls -d /opt");
  assert.deepEqual([status, reason], ["denied", "not today"]);
});

test("always, for a while", { skip }, async () => {
  const { screen, code } = await typed("-c 'ls /usr'", [
    [ALLOW, "a\r"],
    ["For how long?", "soon\r"],
    [ALLOW, "a\r"],
    ["For how long?", "8h\r"],
  ]);
  assert.equal(code, 0, screen);
  const [grant, ...more] = JSON.parse((await box.run(["allow", "--json"])).stdout) as Grant[];
  assert.deepEqual([grant?.args, more], [{ kind: "exact", values: ["/usr"] }, []]);
  const hours = (Date.parse(grant?.expiresAt ?? "") - Date.now()) / 3_600_000;
  assert.ok(hours > 7 && hours <= 8, String(hours));
});

test("always is not offered where it cannot be", { skip }, async () => {
  const { screen, code } = await typed("-c 'make --version'", [
    ["Allow it? (o once, d deny, l later)", "a\r"],
    ["Allow it?", "d\r"],
    ["Reason for the agent:", "\r"],
  ]);
  assert.equal(code, 126, screen);
});

test("a decision that is made elsewhere ends the question", { skip }, async () => {
  const { screen, code } = await typed("-c 'ls -d /var'", [[ALLOW, ""]], async () => {
    await box.run(["deny", (await approvalOf("ls -d /var")).id]);
  });
  assert.equal(code, 126, screen);
});
