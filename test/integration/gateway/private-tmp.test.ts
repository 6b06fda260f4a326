import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import type { GatewayOptions } from "../../../src/gateway/options.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const skip = sandboxCapabilities().mounts === "none" ? "needs a mount namespace" : false;
const fixture = new GatewayFixture();
/** A folder of another program, with a file. */
const shared = mkdtempSync(join(realpathSync("/tmp"), "of-others-"));
writeFileSync(join(shared, "file"), "treasure");
after(async () => {
  rmSync(shared, { recursive: true });
  await fixture.close();
});

function open(options: GatewayOptions = {}) {
  return fixture.open({ policy: { sandbox: "workspace-write" }, ...options });
}

for (const profile of ["workspace-write", "isolated"] as const) {
  test(`in the profile ${profile}, /tmp, /var/tmp and /dev/shm are private and writable`, { skip }, async () => {
    const gateway = await open();
    for (const folder of ["/tmp", "/var/tmp", "/dev/shm"]) {
      const first = await gateway.run({ command: `ls -A ${folder}; echo kept > ${folder}/mine`, sandbox: profile });
      assert.equal(first.exitCode, 0, `${folder}: ${first.output}`);
      assert.ok(!first.output.includes(basename(shared)), folder);
      const next = await gateway.run({ command: `cat ${folder}/mine`, sandbox: profile });
      assert.equal(next.output, "kept\n", folder);
      assert.ok(!existsSync(`${folder}/mine`), `${folder} of this machine was written to`);
    }
  });
}

for (const wrong of ["/no/such/folder", "relative", "/dev/null", "/dev/null/below"]) {
  test(`commands run if TMPDIR is ${wrong}`, { skip }, async () => {
    const own = new GatewayFixture();
    const before = process.env.TMPDIR;
    process.env.TMPDIR = wrong;
    try {
      const gateway = await own.open({ policy: { sandbox: "workspace-write" } });
      const { output, error } = await gateway.run({ command: 'touch "$TMPDIR/file" && echo written' });
      assert.equal(output, "written\n", error?.message);
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
      await own.close();
    }
  });
}

test("each agent has its own /tmp in each workspace", { skip }, async () => {
  const text = "cat /tmp/of-agent 2>/dev/null; echo $$ > /tmp/of-agent";
  const workspace = mkdtempSync(join(fixture.folder, "second-"));
  for (const options of [{ agent: "a" }, { agent: "b" }, { agent: "a", workspace }]) {
    assert.equal((await (await open(options)).run({ command: text })).output, "");
  }
  assert.match((await (await open({ agent: "a" })).run({ command: text })).output, /^\d+\n$/);
});

test("$TMPDIR is below the private /tmp, and is the same folder outside the sandbox", { skip }, async () => {
  const gateway = await open();
  const { output } = await gateway.run({ command: 'echo x > "$TMPDIR/own" && cat "$TMPDIR/own" && echo "$TMPDIR"' });
  const [, folder = ""] = output.split("\n");
  assert.ok(existsSync(join(folder, "own")), output);
  assert.ok(folder.startsWith(realpathSync(tmpdir())), output);
});

test("a read-only command has no temporary directory, and cannot read those of others", { skip }, async () => {
  const gateway = await open();
  const { output } = await gateway.run({ command: 'echo secret > /tmp/own; dirname "$TMPDIR"' });
  const folder = output.trim();
  const script = `cat ${shared}/file; ls ${folder}; echo x > /tmp/new`;
  const result = await gateway.run({ command: script, sandbox: "read-only" });
  assert.match(result.output, /treasure/, "the /tmp of this machine stays readable");
  assert.doesNotMatch(result.output, /tmpdir/);
  assert.ok(!existsSync("/tmp/new"));
});

test("says that files of other programs in /tmp are not visible", { skip }, async () => {
  const { hints, exitCode } = await (await open()).run({ command: `cat ${shared}/file` });
  assert.notEqual(exitCode, 0);
  assert.match(hints.map(({ hint }) => hint).join(), /\/tmp is private to sandboxed commands/);
});

test("tells the approver that files in /tmp are those of the agent", { skip }, async () => {
  const gateway = await open({ approve: async () => null });
  const told = async (command: string) => {
    const { approvalId } = await gateway.run({ command, writable: ["/opt"] }, { approvalTimeoutMs: 0 });
    return gateway.approvals.get(approvalId ?? "").request.unbound.join("; ");
  };
  assert.match(await told(`bash ${shared}/file`), /files in .*tmp, which is private to the agent/);
  assert.doesNotMatch(await told("ls -l"), /private/);
});

test("git works in a linked worktree below /tmp whose repository is elsewhere below /tmp", { skip }, async () => {
  const [repository, worktree] = ["repository", "worktree"].map((name) => join(fixture.folder, name)) as [
    string,
    string,
  ];
  const git = (...args: string[]) => execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args]);
  git("init", "-q", repository);
  git("-C", repository, "commit", "-q", "--allow-empty", "-m", "first");
  git("-C", repository, "worktree", "add", "-q", worktree);
  const text = "git -c user.name=x -c user.email=x@x commit -q --allow-empty -m second && git log --format=%s";
  const { output } = await (await open({ workspace: realpathSync(worktree) })).run({ command: text });
  assert.equal(output, "second\nfirst\n");
});

test("a command can connect to the sockets that it creates in /tmp and in $TMPDIR", { skip }, async () => {
  const gateway = await open();
  for (const socket of ["/tmp/s", "/tmp/.X11-unix/X9", "/var/tmp/s", "$TMPDIR/s"]) {
    const script = `const net = require("net"), [, path] = process.argv;
      const server = net.createServer((one) => one.end("hello")).listen(path, () =>
        net.connect(path).on("data", (data) => { console.log(String(data)); server.close(); }).on("error", (e) => { console.log(e.code); server.close(); }));`;
    writeFileSync(fixture.path("connect.js"), script);
    const command = `mkdir -p $(dirname "${socket}") && exec "${process.execPath}" -e "$(cat connect.js)" "${socket}"`;
    const { output } = await gateway.run({ command, timeoutMs: 60_000 });
    assert.equal(output, "hello\n", socket);
  }
});
