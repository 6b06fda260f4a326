import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

/**
 * A command plants something, then a person uses git in the workspace. Each attempt also runs without a sandbox, where
 * the planted program must run: otherwise the attempt proves nothing.
 */
const fixture = new GatewayFixture();
after(() => fixture.close());

const IDENTITY = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "protocol.file.allow=always"];
const home = mkdtempSync(join(fixture.visible, "home-"));
const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1", GIT_EDITOR: "true" };

function git(cwd: string, ...args: string[]): void {
  execFileSync("git", [...IDENTITY, ...args], { cwd, stdio: "ignore", env });
}

interface Attempt {
  name: string;
  /** Prepares the workspace, as a person. */
  given?: (workspace: string) => void;
  /** What the command does. $RUN is a shell command that proves that a program ran, $RUN_FILE an executable file. */
  plant: string;
  /** The folders in which the person uses git. */
  uses?: string[];
  /** Further git commands of the person. */
  also?: string[][];
  /** Whether a new repository cannot be prevented, so that the result must have a warning that matches. */
  warns?: RegExp;
}

function repository(workspace: string): void {
  git(workspace, "init", "-q");
  writeFileSync(join(workspace, "file"), "text\n");
  git(workspace, "add", ".");
  git(workspace, "commit", "-qm", "first");
}

function submodule(workspace: string): void {
  const inner = mkdtempSync(join(fixture.visible, "inner-"));
  repository(inner);
  repository(workspace);
  git(workspace, "submodule", "add", "-q", inner, "lib/inner");
  git(workspace, "commit", "-qm", "submodule");
}

function embedded(workspace: string): void {
  repository(workspace);
  mkdirSync(join(workspace, "a/b/inner"), { recursive: true });
  repository(join(workspace, "a/b/inner"));
}

function linkedGit(workspace: string): void {
  repository(workspace);
  execFileSync("sh", ["-c", "mv .git store && ln -s store .git"], { cwd: workspace });
}

function linkedHooks(workspace: string): void {
  repository(workspace);
  execFileSync("sh", ["-c", "rm -rf .git/hooks && mkdir scripts && ln -s ../scripts .git/hooks"], { cwd: workspace });
}

/** Creates a git directory EVIL with a program that git status runs. */
const evil = (folder: string, settings = "") =>
  `mkdir -p ${folder}/objects ${folder}/refs && echo "ref: refs/heads/main" > ${folder}/HEAD &&
   printf '[core]\\n repositoryformatversion = 0\\n bare = false\\n${settings} fsmonitor = "%s"\\n' "$RUN #" > ${folder}/config`;
/** A folder of a bare repository has no working tree unless its configuration names one. */
const evilBare = (folder: string) => evil(folder, " worktree = .\\n");
const HOOK = '"$RUN_FILE"';
const withHook = (folder: string) => `mkdir -p ${folder} && cp ${HOOK} ${folder}/pre-commit`;

const ATTEMPTS: Attempt[] = [
  { name: "set core.fsmonitor", given: repository, plant: 'git config core.fsmonitor "$RUN #"' },
  { name: "add a hook", given: repository, plant: withHook(".git/hooks") },
  {
    name: "create the hooks folder",
    given: (place) => {
      repository(place);
      rmSync(join(place, ".git/hooks"), { recursive: true, force: true });
    },
    plant: withHook(".git/hooks"),
  },
  {
    name: "create the configuration of the worktree",
    given: (place) => {
      repository(place);
      git(place, "config", "extensions.worktreeConfig", "true");
    },
    plant: 'printf "[core]\\n fsmonitor = \\"%s\\"\\n" "$RUN #" > .git/config.worktree',
  },
  {
    name: "redirect the repository with commondir",
    given: repository,
    plant: `${evil("evil")}; cp -r .git/objects .git/refs evil/; echo ../evil > .git/commondir`,
  },
  {
    name: "replace the repository",
    given: repository,
    plant: `mv .git old; cp -r old .git; git config core.fsmonitor "$RUN #"`,
  },
  { name: "replace a `.git` that is a link", given: linkedGit, plant: `rm .git; ${evil(".git")}` },
  {
    name: "change the target of a `.git` that is a link",
    given: linkedGit,
    plant: 'git config -f store/config core.fsmonitor "$RUN #"',
  },
  {
    name: "replace a hooks folder that is a link",
    given: linkedHooks,
    plant: `rm .git/hooks; ${withHook(".git/hooks")}`,
  },
  { name: "add a hook through a linked hooks folder", given: linkedHooks, plant: withHook("scripts") },
  {
    name: "change the `.git` file of a submodule",
    given: submodule,
    plant: `${evil("evil")}; echo "gitdir: ../../evil" > lib/inner/.git`,
    uses: [".", "lib/inner"],
  },
  {
    name: "replace the folder of a submodule",
    given: submodule,
    plant: `mv lib/inner old; mkdir lib/inner; ${evil("lib/inner/.git")}`,
    uses: [".", "lib/inner"],
  },
  {
    name: "change the configuration of a submodule",
    given: submodule,
    plant: 'git config -f .git/modules/lib/inner/config core.fsmonitor "$RUN #"',
    uses: [".", "lib/inner"],
  },
  {
    name: "add a hook to a submodule",
    given: submodule,
    plant: withHook(".git/modules/lib/inner/hooks"),
    uses: ["lib/inner"],
  },
  {
    name: "change the configuration of an embedded repository",
    given: embedded,
    plant: 'git -C a/b/inner config core.fsmonitor "$RUN #"',
    uses: ["a/b/inner"],
  },
  {
    name: "replace an embedded repository by moving a parent",
    given: embedded,
    plant: `mv a old; mkdir -p a/b/inner; ${evil("a/b/inner/.git")}`,
    uses: ["a/b/inner"],
  },
  {
    name: "redirect a worktree of the repository",
    given: (place) => {
      repository(place);
      git(place, "worktree", "add", "-q", "tree");
    },
    plant: `${evil("evil")}; cp -r .git/objects .git/refs evil/; echo "$PWD/evil" > .git/worktrees/tree/commondir`,
    uses: ["tree"],
  },
  {
    name: "change the `.git` file of a worktree",
    given: (place) => {
      repository(place);
      git(place, "worktree", "add", "-q", "tree");
    },
    plant: `${evil("evil")}; echo "gitdir: $PWD/evil" > tree/.git`,
    uses: ["tree"],
  },
  {
    name: "change hooks that core.hooksPath names",
    given: (place) => {
      repository(place);
      mkdirSync(join(place, ".githooks"));
      git(place, "config", "core.hooksPath", ".githooks");
    },
    plant: withHook(".githooks"),
  },
  {
    name: "create the folder that core.hooksPath names",
    given: (place) => {
      repository(place);
      git(place, "config", "core.hooksPath", ".githooks");
    },
    plant: withHook(".githooks"),
  },
  {
    name: "create an included file",
    given: (place) => {
      repository(place);
      git(place, "config", "include.path", "../team.gitconfig");
    },
    plant: 'git config -f team.gitconfig core.fsmonitor "$RUN #"; sleep 0.1',
  },
  {
    name: "change a submodule's hooks that its configuration names",
    given: (place) => {
      submodule(place);
      mkdirSync(join(place, "lib/inner/hooks-of-module"));
      git(join(place, "lib/inner"), "config", "core.hooksPath", "hooks-of-module");
    },
    plant: withHook("lib/inner/hooks-of-module"),
    uses: ["lib/inner"],
  },
  {
    name: "change a script that Husky's hooks run",
    given: (place) => {
      repository(place);
      mkdirSync(join(place, ".husky/_"), { recursive: true });
      writeFileSync(join(place, ".husky/_/pre-commit"), '#!/bin/sh\nsh "$(dirname "$0")/../pre-commit"\n', {
        mode: 0o755,
      });
      writeFileSync(join(place, ".husky/pre-commit"), "true\n");
      git(place, "config", "core.hooksPath", ".husky/_");
    },
    plant: `cp ${HOOK} .husky/pre-commit`,
  },
  {
    name: "change hooks that the person's configuration names",
    given: (place) => {
      repository(place);
      mkdirSync(join(place, "user-hooks"));
      writeFileSync(join(home, ".gitconfig"), "[core]\n\thooksPath = user-hooks\n");
    },
    plant: withHook("user-hooks"),
  },
  {
    name: "change an included file",
    given: (place) => {
      repository(place);
      writeFileSync(join(place, "team.gitconfig"), "");
      git(place, "config", "include.path", "../team.gitconfig");
    },
    plant: 'git config -f team.gitconfig core.fsmonitor "$RUN #"',
  },
  {
    name: "change a script that a filter runs",
    given: (place) => {
      repository(place);
      mkdirSync(join(place, "tools"));
      writeFileSync(join(place, "tools/clean.sh"), "cat\n");
      writeFileSync(join(place, ".gitattributes"), "*.x filter=x\n");
      git(place, "config", "filter.x.clean", "sh tools/clean.sh");
      writeFileSync(join(place, "a.x"), "");
    },
    plant: `cp ${HOOK} tools/clean.sh`,
    also: [["add", "."]],
  },
  {
    name: "leave commands in an unfinished rebase",
    given: (place) => {
      repository(place);
      git(place, "commit", "-q", "--allow-empty", "-m", "second");
    },
    plant: 'printf "break\\nexec %s\\n" "$RUN" > todo; GIT_SEQUENCE_EDITOR="cp todo" git rebase -q -i HEAD~1',
    also: [["rebase", "--continue"]],
    warns: /rebase-merge\/git-rebase-todo \(exec\)/,
  },
  // A command may create repositories. What they run is reported.
  {
    name: "create a repository",
    plant: `git init -q; git config core.fsmonitor "$RUN #"`,
    warns: /\.git\/config \(core\.fsmonitor\)/,
  },
  {
    name: "create a bare repository in the workspace",
    plant: evilBare("."),
    warns: /workspace-\w+\/config \(core\.fsmonitor\)/,
  },
  {
    name: "create a bare repository in a repository",
    given: repository,
    plant: evilBare("src/deep/bare"),
    uses: ["src/deep/bare"],
    warns: /src\/deep\/bare\/config \(core\.fsmonitor\)/,
  },
  {
    name: "create an embedded repository elsewhere and move it",
    given: repository,
    plant: `t=$(mktemp -d); ${evil('"$t/x"')}; mkdir sub; cp -r "$t/x" sub/git; rm -r "$t"; touch -d 2001-01-01 sub/git sub/git/*; mv sub/git sub/.git; touch -d 2001-01-01 sub .`,
    uses: ["sub"],
    warns: /sub\/\.git\/config \(core\.fsmonitor\)/,
  },
  {
    name: "create a `.git` file in a folder",
    given: repository,
    plant: `${evil("evil")}; mkdir sub; printf 'gitdir: ../evil\\r\\n\\r\\n' > sub/.git`,
    uses: ["sub"],
    warns: /evil\/config \(core\.fsmonitor\)/,
  },
  {
    name: "create a repository with a hook",
    plant: `git init -q; ${withHook(".git/hooks")}`,
    warns: /\.git\/hooks\/pre-commit \(hook\)/,
  },
  {
    name: "create a repository that includes a file",
    plant: `git init -q; git config -f x core.fsmonitor "$RUN #"; git config include.path ../x`,
    warns: /\.git\/config \(include\.path\)/,
  },
  {
    name: "create a submodule among installed packages",
    given: repository,
    plant: plantSubmodule("node_modules/p/s"),
    warns: /node_modules\/p\/s\/\.git\/config \(core\.fsmonitor\)/,
  },
  {
    name: "create a submodule in a deep folder, with a compressed index",
    given: repository,
    plant: `${plantSubmodule("a/b/c/d/e/f/g/h/i/j/k/l/m/n/s")}; git -c core.fsmonitor= update-index --index-version 4`,
    warns: /n\/s\/\.git\/config \(core\.fsmonitor\)/,
  },
  {
    name: "create a remote that is a repository with hooks",
    given: repository,
    plant: `git init -q --bare node_modules/e; cp "$RUN_FILE" node_modules/e/hooks/pre-receive; mkdir -p .git/remotes; echo "URL: $PWD/node_modules/e" > .git/remotes/origin`,
    also: [["push", "origin", "HEAD"]],
    warns: /\.git\/remotes\/origin \(remote\)/,
  },
];

/** Creates a repository at PATH, and an entry for it in the index of the workspace's repository. */
function plantSubmodule(path: string): string {
  const commit = "-c user.name=x -c user.email=x@x commit -q --allow-empty -m x";
  return `git init -q ${path}; git -C ${path} ${commit}; git update-index --add --cacheinfo 160000,$(git -C ${path} rev-parse HEAD),${path}; git config -f ${path}/.git/config core.fsmonitor "$RUN #"`;
}

let count = 0;

async function run(gateway: "off" | "workspace-write", { given, plant, uses = ["."], also = [] }: Attempt) {
  const workspace = realpathSync(mkdtempSync(join(fixture.visible, "workspace-")));
  const ran = join(fixture.visible, `ran-${count++}`);
  rmSync(join(home, ".gitconfig"), { force: true });
  given?.(workspace);
  writeFileSync(join(fixture.visible, "run.sh"), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
  const opened: Gateway = await fixture.open({
    workspace,
    policy: { sandbox: gateway, limits: { sessions: 10_000, startsPerMinute: 1_000_000 } },
  });
  // The gateway reads the person's configuration of git from HOME.
  const result = await opened.run({
    command: plant,
    env: { RUN: `touch ${ran}`, RUN_FILE: join(fixture.visible, "run.sh") },
  });
  await opened.close();
  for (const folder of uses) {
    const cwd = join(workspace, folder);
    if (!existsSync(cwd)) continue;
    for (const args of [["status"], ["diff"], ["log"], ...also, ["commit", "--allow-empty", "-qm", "x"]]) {
      spawnSync("git", [...IDENTITY, ...args], { cwd, env, stdio: "ignore" });
    }
  }
  return { ran: existsSync(ran), result };
}

process.env.HOME = home;
for (const attempt of ATTEMPTS) {
  test(`a command cannot ${attempt.name} to run a program when a person uses git`, async () => {
    const control = await run("off", attempt);
    assert.ok(
      control.ran,
      `the attempt fails without a sandbox too: ${control.result.status} ${control.result.stderr} ${control.result.error?.message}`,
    );
    const { ran, result } = await run("workspace-write", attempt);
    const warnings = result.warnings.join("\n");
    if (attempt.warns) assert.match(warnings, attempt.warns);
    else assert.ok(!ran, `the program ran; exit code ${result.exitCode} ${result.stderr} ${warnings}`);
  });
}

test("a finding is reported once, and again for another setting", async () => {
  const workspace = realpathSync(mkdtempSync(join(fixture.visible, "workspace-")));
  const gateway = await fixture.open({ workspace, policy: {} });
  const about = async (command: string) =>
    (await gateway.run({ command })).warnings.filter((text) => text.includes("git runs programs"));
  assert.deepEqual(await about("git init -q sub"), [], "a repository without programs is not reported");
  assert.match(
    (await about("cd sub && git config core.fsmonitor x && sleep 0.1")).join(),
    /sub\/\.git\/config \(core\.fsmonitor\)/,
  );
  assert.deepEqual(await about("cd sub && git config user.name x && sleep 0.1"), []);
  assert.match((await about("cd sub && git config core.sshCommand x && sleep 0.1")).join(), /\(core\.sshcommand\)/);
  assert.match((await about("cd sub && git config core.sshCommand y && sleep 0.1")).join(), /\(core\.sshcommand\)/);
  assert.equal((await gateway.run({ command: "rm -rf sub" })).exitCode, 0, "the agent can delete its own repository");
  await gateway.close();
});

test("a repository in another writable folder is protected, unless the operator names a path in it", async () => {
  const workspace = mkdtempSync(join(fixture.folder, "workspace-"));
  const shared = realpathSync(mkdtempSync(join(fixture.folder, "shared-")));
  repository(shared);
  const set = async (value: string, writable: string[]) => {
    const gateway = await fixture.open({ workspace, policy: { writable } });
    const result = await gateway.run({ command: `touch ${shared}/new && git -C ${shared} config core.pager ${value}` });
    await gateway.close();
    return result.exitCode;
  };
  assert.notEqual(await set("planted", [shared]), 0);
  assert.ok(!readFileSync(join(shared, ".git/config"), "utf8").includes("planted"));
  assert.ok(existsSync(join(shared, "new")));
  assert.equal(await set("allowed", [shared, join(shared, ".git")]), 0);
});

test("a workspace with too many repositories is reported", async () => {
  const workspace = mkdtempSync(join(fixture.folder, "workspace-"));
  const gateway = await fixture.open({ workspace, policy: {} });
  const { warnings } = await gateway.run({
    command: "for i in $(seq 250); do mkdir -p $i/objects $i/refs; touch $i/HEAD; done; mkdir last; sleep 0.3",
  });
  await gateway.close();
  assert.match(warnings.join(), /too many folders or repositories/);
});

test("a forged linked worktree does not make another repository writable", async () => {
  const workspace = realpathSync(mkdtempSync(join(fixture.visible, "workspace-")));
  const other = realpathSync(mkdtempSync(join(fixture.visible, "other-")));
  repository(other);
  const run = async (command: string) => {
    // A new gateway resolves the protected paths again.
    const gateway = await fixture.open({ workspace, policy: {} });
    const result = await gateway.run({ command });
    await gateway.close();
    assert.equal(result.status, "completed", result.error?.message);
  };
  const forge = `mkdir fake; echo "$PWD/.git" > fake/gitdir; echo ${other}/.git > fake/commondir
    mkdir -p fake2/worktrees/x; for n in objects refs logs HEAD; do ln -s ${other}/.git/$n fake2/$n; done
    echo "$PWD/.git" > fake2/worktrees/x/gitdir; echo ../.. > fake2/worktrees/x/commondir`;
  await run(forge);
  for (const target of ["fake", "fake2/worktrees/x"]) {
    rmSync(join(workspace, ".git"), { force: true });
    await run(`echo "gitdir: ${target}" > .git`);
    await run(`rm -rf ${other}/.git/objects/*; touch ${other}/.git/objects/planted`);
    assert.ok(!existsSync(join(other, ".git/objects/planted")), `forged with ${target}`);
    execFileSync("git", ["fsck"], { cwd: other, env, stdio: "ignore" });
  }
});
