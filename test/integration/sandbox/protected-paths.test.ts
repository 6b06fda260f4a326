import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, test } from "node:test";
import { loadConfig } from "../../../src/config/load.ts";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { createConfinement } from "../../../src/sandbox/confine.ts";
import { sandboxHints } from "../../../src/sandbox/hints.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-protected-")));
after(() => rmSync(folder, { recursive: true }));

/** Plans a command in a workspace and returns its protected paths, and its writable paths outside the workspace. */
function protectedPaths(workspace: string, writable: string[] = []) {
  const { settings } = loadConfig({ workspace, operatorPath: null, given: { writable } });
  const state = mkdtempSync(join(folder, "state-"));
  const { planner } = createConfinement(settings, {
    workspace,
    agent: "default",
    state,
    keepOut: [state],
    parentEnv: { HOME: folder },
    capabilities: sandboxCapabilities,
  });
  const { readOnly = [], writable: all = [] } = planner.plan({}).spec ?? {};
  return { readOnly, writable: all.filter((path) => path !== workspace && !writable.includes(path)), planner };
}

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
  assert.deepEqual(protectedPaths(tree, [place]).writable, [], "commands can write to the repository");
});

/** Creates a worktree `name` whose repository is `<name>-main`, and returns both. */
function worktree(name: string): { tree: string; common: string; own: string } {
  const place = repository(`${name}-main`);
  const tree = join(folder, name);
  git(place, "worktree", "add", tree);
  assert.notDeepEqual(protectedPaths(tree).writable, [], "the worktree is not trusted before the change");
  return { tree, common: join(place, ".git"), own: join(place, ".git/worktrees", name) };
}

const FORGERIES: [name: string, forge: (paths: ReturnType<typeof worktree>) => string][] = [
  [
    "a worktree folder in the workspace",
    ({ tree, common }) => {
      mkdirSync(join(tree, "fake/worktrees/x"), { recursive: true });
      writeFileSync(join(tree, "fake/worktrees/x/gitdir"), `${tree}/.git\n`);
      writeFileSync(join(tree, "fake/worktrees/x/commondir"), `${common}\n`);
      return writeGitFile(tree, "fake/worktrees/x");
    },
  ],
  [
    "a whole repository in the workspace with links to another",
    ({ tree, common }) => {
      mkdirSync(join(tree, "fake/worktrees/x"), { recursive: true });
      for (const name of ["objects", "refs", "logs", "HEAD"]) symlinkSync(join(common, name), join(tree, "fake", name));
      writeFileSync(join(tree, "fake/worktrees/x/gitdir"), `${tree}/.git\n`);
      writeFileSync(join(tree, "fake/worktrees/x/commondir"), "../..\n");
      return writeGitFile(tree, "fake/worktrees/x");
    },
  ],
  [
    "a link to the worktrees of another repository",
    ({ tree, own }) => {
      mkdirSync(join(tree, "fake"));
      symlinkSync(dirname(own), join(tree, "fake/worktrees"));
      const other = join(folder, "elsewhere");
      mkdirSync(other);
      writeGitFile(other, join(tree, "fake/worktrees", basename(own)));
      return other;
    },
  ],
  ["a `.git` file that names the worktree of another folder", ({ own }) => writeGitFile(newFolder("other"), own)],
  ["a `.git` file that names a repository", ({ common }) => writeGitFile(newFolder("plain"), common)],
  [
    "a `.git` file that is a link",
    ({ tree }) => {
      renameSync(join(tree, ".git"), join(tree, "moved"));
      symlinkSync("moved", join(tree, ".git"));
      return tree;
    },
  ],
  [
    "a commondir that names another repository",
    ({ tree, own }) => {
      writeFileSync(join(own, "commondir"), `${join(repository("victim"), ".git")}\n`);
      return tree;
    },
  ],
  [
    "a commondir with a NUL",
    ({ tree, own }) => {
      writeFileSync(join(own, "commondir"), "../..\0\n");
      return tree;
    },
  ],
  [
    "objects that are a link",
    ({ tree, common }) => {
      renameSync(join(common, "objects"), join(common, "moved"));
      symlinkSync(join(folder, "plain-repository/.git/objects"), join(common, "objects"));
      return tree;
    },
  ],
  [
    "a worktree folder that is not in `worktrees`",
    ({ tree, own, common }) => {
      renameSync(own, join(common, "elsewhere"));
      return writeGitFile(tree, join(common, "elsewhere"));
    },
  ],
  [
    "a `.git` file that is a FIFO",
    ({ tree }) => {
      rmSync(join(tree, ".git"));
      execFileSync("mkfifo", [join(tree, ".git")]);
      return tree;
    },
  ],
  [
    "a `.git` file of more than a megabyte",
    ({ tree, own }) => {
      writeFileSync(join(tree, ".git"), `gitdir: ${own}${"\n".repeat(2 << 20)}`);
      return tree;
    },
  ],
];

function newFolder(name: string): string {
  const place = join(folder, `${name}-${Math.random().toString(36).slice(2)}`);
  mkdirSync(place);
  return place;
}

function writeGitFile(workspace: string, target: string): string {
  writeFileSync(join(workspace, ".git"), `gitdir: ${target}\n`);
  return workspace;
}

for (const [index, [name, forge]] of FORGERIES.entries()) {
  test(`does not trust ${name}`, () => {
    const forged = forge(worktree(`forged-${index}`));
    assert.deepEqual(protectedPaths(forged).writable, []);
  });
}

test("does not trust a worktree whose repository belongs to another user", { skip: process.geteuid?.() !== 0 }, () => {
  const { tree, own } = worktree("foreign");
  execFileSync("chown", ["12345", join(own, "gitdir")]);
  assert.deepEqual(protectedPaths(tree).writable, []);
});

test("protects entries of a git directory that are not data of git", () => {
  const place = repository("unknown");
  for (const name of ["custom-tool", "info", "lfs"]) mkdirSync(join(place, ".git", name), { recursive: true });
  rmSync(join(place, ".git/hooks"), { recursive: true, force: true });
  const { readOnly, planner } = protectedPaths(place);
  assert.ok(readOnly.includes(join(place, ".git/custom-tool")));
  for (const name of ["info", "lfs", "objects", "refs", "HEAD", "index", "logs"]) {
    assert.ok(!readOnly.includes(join(place, ".git", name)), `${name} is read-only`);
  }
  assert.ok(!existsSync(join(place, ".git/config.worktree")), "planning created files");
  planner.prepare({});
  for (const name of ["hooks", "config.worktree"]) assert.ok(existsSync(join(place, ".git", name)), name);
});

test("protects submodules among thousands of folders, and worktrees of other folders", () => {
  const place = repository("crowded");
  git(place, "worktree", "add", join(folder, "crowded-tree"));
  assert.ok(protectedPaths(place).readOnly.includes(join(place, ".git/worktrees/crowded-tree/commondir")));
  for (let i = 0; i < 1000; i++) mkdirSync(join(place, ".git/modules", String(i)), { recursive: true });
  assert.ok(protectedPaths(place).readOnly.includes(join(place, ".git/modules")), "a submodule could be hidden");
});

test("protects what the configuration of git names in the workspace", () => {
  const place = repository("configured");
  for (const script of ["tools/clean.sh", "tools/other.sh", "shared.inc"]) {
    mkdirSync(dirname(join(place, script)), { recursive: true });
    writeFileSync(join(place, script), "");
  }
  writeFileSync(join(place, "shared.inc"), "[core]\n hooksPath = .githooks\n");
  git(place, "config", "include.path", "../shared.inc");
  git(place, "config", "filter.x.clean", "bash tools/clean.sh %f");
  git(place, "config", "alias.other", "!tools/other.sh");
  writeFileSync(join(folder, ".gitconfig"), "[core]\n\thooksPath = .husky/_\n");
  const { readOnly } = protectedPaths(place);
  rmSync(join(folder, ".gitconfig"));
  for (const name of ["shared.inc", ".githooks", "tools/clean.sh", ".husky/_", ".husky"]) {
    assert.ok(readOnly.includes(join(place, name)), name);
  }
  assert.ok(!readOnly.includes(join(place, "tools/other.sh")), "a person runs an alias deliberately");
});

test("protects a `.git` and hooks that are links, with their targets", () => {
  const place = repository("linked");
  renameSync(join(place, ".git"), join(place, "store"));
  symlinkSync("store", join(place, ".git"));
  rmSync(join(place, "store/hooks"), { recursive: true, force: true });
  mkdirSync(join(place, "scripts"));
  symlinkSync("../scripts", join(place, "store/hooks"));
  const { readOnly } = protectedPaths(place);
  for (const name of [".git", "store/hooks", "scripts", "store/config"]) {
    assert.ok(readOnly.includes(join(place, name)), name);
  }
});

test("protects repositories deeper in the workspace", () => {
  const place = repository("above");
  git(place, "init", "deep/inner");
  git(place, "init", "--bare", "bare");
  const { readOnly } = protectedPaths(place);
  for (const name of ["deep/inner/.git/config", "deep/inner/.git/hooks", "bare/config", "bare/hooks"]) {
    assert.ok(readOnly.includes(join(place, name)), name);
  }
});

test("ignores an invalid repository", () => {
  const place = join(folder, "garbage");
  mkdirSync(place);
  writeFileSync(join(place, ".git"), Buffer.from([0, 255, 10, 1]));
  assert.deepEqual(protectedPaths(place).writable, []);
  assert.ok(protectedPaths(place).readOnly.includes(join(place, ".git")));
});

test("a hint names the protected path that a command could not write", () => {
  const sandbox = {
    profile: "workspace-write" as const,
    network: "on" as const,
    writable: ["/w"],
    workspace: "/w",
    denied: [],
    sockets: [],
    temporary: null,
    hidden: [],
    user: null,
    level: "full" as const,
    notEnforced: [],
  };
  const hinted = (path: string): string | null => {
    const [hint] = sandboxHints(`touch: cannot touch '${path}': Read-only file system`, {
      sandbox,
      cwd: "/w",
      home: "/h",
    });
    return /: (\S+) is a protected path/.exec(hint?.hint ?? "")?.[1] ?? null;
  };
  assert.equal(hinted("/w/.git/config"), "/w/.git/config");
  assert.equal(hinted("/w/.git/config.lock"), "/w/.git/config");
  assert.equal(hinted("/w/.git/commondir"), "/w/.git/commondir");
  assert.equal(hinted("/w/.git/hooks/pre-commit"), "/w/.git/hooks");
  assert.equal(hinted("/w/lib/.git/modules/a/b/config"), "/w/lib/.git/modules/a/b/config");
  assert.equal(hinted("/w/.git/worktrees/x/gitdir"), "/w/.git/worktrees/x/gitdir");
  assert.equal(hinted("/w/lib/.git"), "/w/lib/.git");
  assert.equal(hinted("/w/.vscode/tasks.json"), "/w/.vscode");
  assert.equal(hinted("/w/.git/index"), null);
  assert.equal(hinted("/w/src/config"), null);
});
