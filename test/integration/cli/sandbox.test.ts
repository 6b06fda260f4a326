import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Sandbox } from "../../fixtures/sallyport.ts";
import { visibleFolder } from "../../fixtures/visible-folder.ts";

const sandbox = new Sandbox();
const outside = visibleFolder("sallyport-outside-");
after(() => {
  sandbox.remove();
  rmSync(outside, { recursive: true });
});
const workspace = join(sandbox.folder, "workspace");
mkdirSync(workspace);

test("a command can write to the current directory, and gets a hint when it writes elsewhere", async () => {
  const inside = await sandbox.run(["run", "--", "touch", "here"], { cwd: workspace });
  assert.equal(inside.code, 0, inside.stderr);
  assert.ok(existsSync(join(workspace, "here")));
  const path = join(outside, "x");
  const { code, stderr } = await sandbox.run(["run", "--", "touch", path], { cwd: workspace });
  assert.equal(code, 1);
  assert.ok(!existsSync(path));
  assert.match(
    stderr,
    /sallyport: Probably denied by the sandbox: .* is outside the workspace; write to the workspace or \/tmp, or run it with `--writable/,
  );
});

test("check evaluates the requested sandbox", async () => {
  assert.equal((await sandbox.run(["check", "--", "ls"], { cwd: workspace })).code, 0);
  const off = await sandbox.run(["check", "--sandbox", "off", "--", "ls"], { cwd: workspace });
  assert.equal(off.code, 3);
  assert.match(off.stdout, /sandbox-off: Requests to run without the sandbox/);
  const writable = await sandbox.run(["check", "--writable", outside, "--", "ls"], { cwd: workspace });
  assert.match(writable.stdout, new RegExp(`sandbox-write: Requests write access to\\s+${outside}`));
});

test("inspect shows the sandbox of a session", async () => {
  await sandbox.run(["run", "--name", "tight", "--sandbox", "read-only", "--network", "off", "--", "true"]);
  assert.match((await sandbox.run(["inspect", "tight"])).stdout, /^sandbox\tread-only, network off$/m);
  await sandbox.run(["run", "--name", "ports", "--sandbox", "isolated", "--network", "80,443", "--", "true"]);
  assert.match((await sandbox.run(["inspect", "ports"])).stdout, /^sandbox\tisolated, ports 80 443$/m);
});
