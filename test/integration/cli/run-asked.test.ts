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
const skip = spawnSync("script", ["--version"]).status === 0 ? inside : "the script program is not installed";
const box = new Sandbox();
after(() => box.remove());

/** A workspace in which the commands below require approval, including commands that a grant could allow. */
const workspace = join(box.folder, "workspace");
mkdirSync(workspace);
writeFileSync(join(workspace, "sallyport.json"), JSON.stringify({ security: "allowlist" }));

const PROMPT = "Approve? (o once, a always, d deny, l later)";

/** Runs `sallyport run` on a terminal and presses each key when the text before it is shown. */
async function typed(
  args: string,
  keys: [shown: string, key: string][],
  meanwhile?: () => Promise<unknown>,
): Promise<{ screen: string; code: number }> {
  const line = `stty cols 200 rows 24 -echo; ${process.execPath} ${ENTRY} run ${args}; echo "ended $?"`;
  // The Ctrl-C for the command would also end dash. bash continues and prints the exit code.
  const env = {
    ...process.env,
    SHELL: "/bin/bash",
    SALLYPORT_STATE: box.state,
    XDG_CONFIG_HOME: box.operator,
    NO_COLOR: "1",
  };
  const child = spawn("script", ["-qec", line, "/dev/null"], { cwd: workspace, env, stdio: "pipe" });
  let screen = "";
  let at = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    screen += chunk.toString();
  });
  for (const [shown, key] of keys) {
    await until(`the terminal shows ${shown} (it showed ${screen} at first)`, () => screen.includes(shown, at));
    at = screen.indexOf(shown, at) + shown.length;
    child.stdin.write(key);
  }
  await meanwhile?.();
  await until(`the command line has exited (the terminal showed ${screen} at first)`, () => /ended \d+/.test(screen));
  await killAndWait(child);
  return { screen, code: Number(/ended (\d+)/.exec(screen)?.[1]) };
}

async function approvalOf(command: string): Promise<Approval> {
  const all = JSON.parse((await box.run(["approvals", "--all", "--json"])).stdout) as Approval[];
  const found = all.find(({ request }) => request.command.text === command);
  assert.ok(found, `${command} has no approval request`);
  return found;
}

test("Ctrl-C at the prompt ends the command line", { skip }, async () => {
  for (const options of ["", "--json"]) {
    const { screen, code } = await typed(`${options} -c 'ls -d /home'`, [["Approve?", "\x03"]]);
    assert.equal(code, 130);
    assert.doesNotMatch(screen, /sallyport approvals|Unexpected/);
  }
});

test("the `l` key and end of input print how to decide in another terminal", { skip }, async () => {
  for (const later of ["l\r", "\x04"]) {
    const { screen, code } = await typed("-c 'ls -d /srv'", [
      [PROMPT, later],
      ["or in the console", "\x03"],
    ]);
    assert.match(screen, /in another terminal with `sallyport approvals`/);
    assert.equal(code, 130);
  }
});

test("repeats the prompt after an invalid answer, then approves once", { skip }, async () => {
  const { screen, code } = await typed("-c 'ls -d /tmp'", [
    [PROMPT, "yes\r"],
    [PROMPT, "\r"],
    [PROMPT, "o\r"],
  ]);
  assert.equal(code, 0, screen);
  assert.match(screen, /│ ls -d \/tmp[\s\S]*^\/tmp\r$/m);
  const { decisions } = await approvalOf("ls -d /tmp");
  assert.deepEqual(
    decisions.map(({ decision, who, channel }) => ({ decision, who, channel })),
    [{ decision: "once", who: userInfo().username, channel: "terminal" }],
  );
});

test("denies with a reason", { skip }, async () => {
  const { screen, code } = await typed("-c 'ls -d /opt'", [
    [PROMPT, "d\r"],
    ["Reason to give to the agent (optional):", "not today\r"],
  ]);
  assert.equal(code, 126, screen);
  const { status, reason } = await approvalOf("ls -d /opt");
  assert.deepEqual([status, reason], ["denied", "not today"]);
});

test("creates a grant with an expiry", { skip }, async () => {
  const { screen, code } = await typed("-c 'ls /usr'", [
    [PROMPT, "a\r"],
    ["For how long?", "soon\r"],
    [PROMPT, "a\r"],
    ["For how long?", "8h\r"],
  ]);
  assert.equal(code, 0, screen);
  const [grant, ...more] = JSON.parse((await box.run(["allow", "--json"])).stdout) as Grant[];
  assert.deepEqual([grant?.args, more], [{ kind: "exact", values: ["/usr"] }, []]);
  const hours = (Date.parse(grant?.expiresAt ?? "") - Date.now()) / 3_600_000;
  assert.ok(hours > 7 && hours <= 8, String(hours));
});

test("does not offer a grant for a command that can only be approved once", { skip }, async () => {
  const { screen, code } = await typed("-c 'make --version'", [
    ["Approve? (o once, d deny, l later)", "a\r"],
    ["Approve?", "d\r"],
    ["Reason to give to the agent (optional):", "\r"],
  ]);
  assert.equal(code, 126, screen);
});

test("a decision made elsewhere ends the prompt", { skip }, async () => {
  const { screen, code } = await typed("-c 'ls -d /var'", [[PROMPT, ""]], async () => {
    await box.run(["deny", (await approvalOf("ls -d /var")).id]);
  });
  assert.equal(code, 126, screen);
});
