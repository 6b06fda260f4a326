import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { DEFAULTS } from "../../../src/core/settings.ts";
import { protectedPathOf } from "../../../src/sandbox/protected/protected-paths.ts";
import { SandboxPlanner } from "../../../src/sandbox/sandbox.ts";
import { CAPABILITIES } from "../../fixtures/capabilities.ts";

const outer = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-configuration-")));
const folder = join(outer, "workspace");
for (const name of ["workspace", "state"]) mkdirSync(join(outer, name));
after(() => rmSync(outer, { recursive: true }));

/** Returns the protected paths of a workspace without a repository. */
function configurationPaths(workspace: string, homes: string[]): string[] {
  const planner = new SandboxPlanner({
    settings: DEFAULTS,
    workspace,
    agent: "default",
    state: join(outer, "state"),
    keepOut: [],
    home: "",
    homes: { own: homes, others: [] },
    user: null,
    path: "/usr/bin:/bin",
    capabilities: () => CAPABILITIES,
  });
  return planner.plan({}).spec?.readOnly ?? [];
}

test("lists each path once, and no path that builds and package managers write", () => {
  const all = configurationPaths(folder, [folder]).map((path) => path.slice(folder.length + 1));
  assert.equal(new Set(all).size, all.length);
  const everyday = `package.json package-lock.json .npmrc .yarnrc.yml .yarn .pnp.cjs node_modules .venv Makefile .github
    .github/workflows .cargo .gradle .mvn .bundle .bsp .metals .terraform .tool-versions .nvmrc .env .gitignore
    .gitattributes .gitmodules .husky .editorconfig AGENTS.md CLAUDE.md .cursorrules .direnv .kiro/specs .jj .jj/repo .hg
    tsconfig.json pyproject.toml .pytest_cache .cache .config .local .local/share`.split(/\s+/);
  for (const path of everyday) assert.ok(!all.includes(path), path);
});

test("includes existing files that match a pattern", () => {
  mkdirSync(join(folder, ".direnv"));
  for (const name of ["a.code-workspace", "b.sublime-project", ".direnv/flake-profile-1.rc", ".direnv/other"])
    writeFileSync(join(folder, name), "");
  const all = configurationPaths(folder, []);
  assert.deepEqual(
    ["a.code-workspace", "b.sublime-project", ".direnv/flake-profile-1.rc", ".direnv/other"].map((name) =>
      all.includes(join(folder, name)),
    ),
    [true, true, true, false],
  );
  assert.ok(!all.some((path) => path.includes("*")));
});

test("includes the settings of programs in a home directory within the workspace", () => {
  const home = join(folder, "home");
  assert.ok(!configurationPaths(folder, ["/home/other"]).some((path) => path.endsWith("/.config/nvim")));
  assert.ok(configurationPaths(folder, [home]).includes(join(home, ".config/nvim")));
});

test("finds the protected path that a path is in", () => {
  assert.equal(protectedPathOf("/ws/.vscode/tasks.json", "/ws"), "/ws/.vscode");
  assert.equal(protectedPathOf("/ws/x.code-workspace", "/ws"), "/ws/x.code-workspace");
  assert.equal(protectedPathOf("/ws/.direnv/flake.rc", "/ws"), "/ws/.direnv/flake.rc");
  assert.equal(protectedPathOf("/ws/.direnv/python/bin/pip", "/ws"), null);
  assert.equal(protectedPathOf("/ws/src/mise.toml", "/ws"), null);
});

test("includes the file that names the repository of a Jujutsu workspace", () => {
  const repository = join(folder, ".jj/repo");
  mkdirSync(repository, { recursive: true });
  assert.ok(!configurationPaths(folder, []).includes(repository));
  rmSync(repository, { recursive: true });
  writeFileSync(repository, "/other/.jj/repo");
  assert.ok(configurationPaths(folder, []).includes(repository));
});

test("includes the files and folders that links refer to, and the links on the way", () => {
  const linked = join(outer, "linked");
  for (const name of ["tools/vscode", "dot/fish"]) mkdirSync(join(linked, name), { recursive: true });
  symlinkSync("via", join(linked, ".vscode"));
  symlinkSync("tools/vscode", join(linked, "via"));
  symlinkSync("dot", join(linked, ".config"));
  symlinkSync(".", join(linked, ".idea"));
  const all = configurationPaths(linked, []);
  for (const name of [".vscode", "via", "tools/vscode", ".config", ".config/fish", "dot/fish", ".idea"])
    assert.ok(all.includes(join(linked, name)), name);
  assert.ok(!all.includes(linked));
});
