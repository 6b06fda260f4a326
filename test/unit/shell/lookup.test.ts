import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { check } from "../../../src/gateway/check.ts";
import { systemLookup } from "../../../src/shell/lookup.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "lookup-")));
after(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, "bin"));
mkdirSync(join(root, "ws"));
writeFileSync(join(root, "bin/tool"), "#!/bin/sh\n");
writeFileSync(join(root, "bin/data"), "");
chmodSync(join(root, "bin/tool"), 0o755);
symlinkSync("/", join(root, "ws/slash"));
symlinkSync("/etc", join(root, "ws/settings"));
symlinkSync("/etc/not-there-yet", join(root, "ws/later"));
symlinkSync(join(root, "ws"), join(root, "door"));

test("finds programs on PATH, by path and through links", () => {
  const lookup = systemLookup(`relative:${join(root, "bin")}`);
  assert.equal(lookup.which("tool", null), join(root, "bin/tool"));
  assert.equal(lookup.which("data", null), null, "not executable");
  assert.equal(lookup.which("./bin/tool", root), join(root, "bin/tool"));
  assert.equal(lookup.which("./bin/tool", null), null);
  assert.equal(lookup.which("nothing", root), null);
});

test("resolves links in the part of a path that exists", () => {
  const { realpath } = systemLookup();
  assert.equal(realpath(join(root, "door/new/file")), join(root, "ws/new/file"));
  assert.equal(realpath(join(root, "ws/later")), "/etc/not-there-yet");
  assert.equal(realpath(join(root, "ws/slash/home")), "/home");
});

test("a link to the root directory or a system folder is checked as its target", () => {
  const workspace = join(root, "ws");
  const verdict = (command: string, folder = workspace) =>
    check(command, { workspace: folder, home: "/home/user" }).verdict;
  assert.equal(verdict("rm -rf slash/*"), "blocked");
  assert.equal(verdict("rm -rf ./slash/"), "blocked");
  assert.equal(verdict("echo x > settings/passwd"), "deny");
  assert.equal(verdict("cp x later"), "deny");
  assert.equal(verdict("rm -rf new"), "allow");
  assert.equal(
    verdict("echo x > new/file", join(root, "door")),
    "allow",
    "a workspace reached by a link is still the workspace",
  );
});
