import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeFolder, workspaceScope } from "../../../src/sandbox/workspace.ts";
import { compile } from "../../fixtures/compile.ts";
import { killAndWait } from "../../fixtures/processes.ts";

function scene(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-folder-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [workspace, outside] = [join(folder, "workspace"), join(folder, "outside")];
  mkdirSync(workspace);
  mkdirSync(outside);
  return { workspace, outside, scope: workspaceScope(workspace) };
}

test("creates missing folders and accepts existing ones", (t) => {
  const { workspace, scope } = scene(t);
  const expected = join(workspace, ".tmp/exec");
  assert.equal(makeFolder(scope, ".tmp/exec"), expected);
  assert.equal(makeFolder(scope, ".tmp/exec"), expected);
  assert.equal(makeFolder(scope, join(workspace, ".tmp/exec/")), expected);
  assert.ok(existsSync(expected));
  mkdirSync(join(workspace, "build"));
  symlinkSync("build", join(workspace, "link"));
  assert.equal(makeFolder(scope, "link/x"), join(workspace, "build/x"));
});

test("creates nothing outside the workspace or below a file", (t) => {
  const { workspace, outside, scope } = scene(t);
  symlinkSync(outside, join(workspace, ".tmp"));
  symlinkSync(join(outside, "missing"), join(workspace, "dangling"));
  writeFileSync(join(workspace, "file"), "");
  for (const path of [
    ".tmp/exec",
    "dangling/x",
    "dangling",
    "../outside/x",
    "missing/../../outside/x",
    "file/x",
    outside,
  ]) {
    assert.throws(() => makeFolder(scope, path), { type: "PathOutOfScope" }, path);
  }
  assert.deepEqual(readdirSync(outside), []);
});

test("does not follow a link that replaces a folder while it runs", async (t) => {
  const { workspace, outside, scope } = scene(t);
  mkdirSync(join(workspace, ".tmp"));
  symlinkSync(outside, join(workspace, "trap"));
  const swapper = spawn(compile("swap"), [join(workspace, ".tmp"), join(workspace, "trap")], { stdio: "ignore" });
  try {
    for (let round = 0; round < 3000; round++) {
      try {
        makeFolder(scope, `.tmp/${round}`);
      } catch (error) {
        assert.equal((error as { type?: string }).type, "PathOutOfScope", String(error));
      }
    }
  } finally {
    await killAndWait(swapper);
  }
  assert.deepEqual(readdirSync(outside), []);
});
