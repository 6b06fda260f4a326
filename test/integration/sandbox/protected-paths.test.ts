import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { protectedPathOf, protectedPaths } from "../../../src/sandbox/protected-paths.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-protected-")));
after(() => rmSync(folder, { recursive: true }));

function git(cwd: string, ...args: string[]): void {
  const identity = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "protocol.file.allow=always"];
  execFileSync("git", [...identity, ...args], {
    cwd,
    stdio: "ignore",
    env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" },
  });
}

function repository(name: string): string {
  const place = join(folder, name);
  mkdirSync(place);
  git(place, "init");
  git(place, "commit", "--allow-empty", "-m", "first");
  return place;
}

test("protects hooks and configuration of the repository, of editors and of agents", () => {
  const place = repository("plain");
  const { readOnly, writable } = protectedPaths(place);
  for (const name of [
    ".git/hooks",
    ".git/config",
    ".git/commondir",
    ".vscode",
    ".idea",
    ".claude",
    ".mcp.json",
    "sallyport.json",
  ]) {
    assert.ok(readOnly.includes(join(place, name)), name);
  }
  assert.ok(!readOnly.includes(join(place, ".git")), "a read-only .git prevents commits");
  assert.deepEqual(writable, []);
});

test("protects the hooks of submodules", () => {
  const inner = repository("inner");
  const place = repository("outer");
  git(place, "submodule", "add", inner, "lib/inner");
  const { readOnly } = protectedPaths(place);
  assert.ok(readOnly.includes(join(place, ".git/modules/lib/inner/hooks")), readOnly.join("\n"));
  assert.ok(readOnly.includes(join(place, ".git/modules/lib/inner/config")));
});

test("a linked worktree can write the files of a commit only if its repository names it", () => {
  const place = repository("main");
  const tree = join(folder, "tree");
  git(place, "worktree", "add", tree);
  const { readOnly, writable } = protectedPaths(tree);
  assert.ok(readOnly.includes(join(tree, ".git")), "the file that names the repository is writable");
  assert.deepEqual(
    writable.toSorted(),
    ["worktrees/tree", "objects", "refs", "logs"].map((name) => join(place, ".git", name)).toSorted(),
  );
  for (const name of ["commondir", "gitdir"]) {
    const path = join(place, ".git/worktrees/tree", name);
    assert.ok(
      readOnly.includes(path),
      `${path}, which determines where git finds hooks and configuration, is writable`,
    );
  }
  const forged = join(folder, "forged");
  mkdirSync(forged);
  writeFileSync(join(forged, ".git"), `gitdir: ${join(place, ".git/worktrees/tree")}\n`);
  assert.deepEqual(protectedPaths(forged).writable, [], "a worktree that its repository does not name was accepted");
  writeFileSync(join(forged, ".git"), `gitdir: ${join(place, ".git")}\n`);
  assert.deepEqual(protectedPaths(forged).writable, []);
});

test("ignores an invalid repository", () => {
  const place = join(folder, "garbage");
  mkdirSync(place);
  writeFileSync(join(place, ".git"), Buffer.from([0, 255, 10, 1]));
  assert.deepEqual(protectedPaths(place).writable, []);
  assert.ok(protectedPaths(place).readOnly.includes(join(place, ".git")));
});

test("recognizes a protected path by its name", () => {
  assert.equal(protectedPathOf("/w/.git/config", "/w"), "/w/.git/config");
  assert.equal(protectedPathOf("/w/.git/config.lock", "/w"), "/w/.git/config");
  assert.equal(protectedPathOf("/w/.git/commondir", "/w"), "/w/.git/commondir");
  assert.equal(protectedPathOf("/w/.git/hooks/pre-commit", "/w"), "/w/.git/hooks");
  assert.equal(protectedPathOf("/w/lib/.git/modules/a/b/config", "/w"), "/w/lib/.git/modules/a/b/config");
  assert.equal(protectedPathOf("/w/.vscode/tasks.json", "/w"), "/w/.vscode");
  assert.equal(protectedPathOf("/w/.git/index", "/w"), null);
  assert.equal(protectedPathOf("/w/src/config", "/w"), null);
});
