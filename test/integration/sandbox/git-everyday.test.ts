import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

/** Git commands of coding agents, which must work in the sandbox without approval. */
const fixture = new GatewayFixture();
after(() => fixture.close());

const ENV = {
  GIT_AUTHOR_NAME: "x",
  GIT_AUTHOR_EMAIL: "x@x",
  GIT_COMMITTER_NAME: "x",
  GIT_COMMITTER_EMAIL: "x@x",
};

function git(cwd: string, ...args: string[]): void {
  const identity = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "protocol.file.allow=always"];
  execFileSync("git", [...identity, ...args], { cwd, stdio: "ignore" });
}

function newFolder(name: string): string {
  return realpathSync(mkdtempSync(join(fixture.visible, `${name}-`)));
}

function repository(name: string): string {
  const place = newFolder(name);
  git(place, "init", "-q", "-b", "main");
  writeFileSync(join(place, "file"), "text\n");
  git(place, "add", ".");
  git(place, "commit", "-qm", "first");
  return place;
}

const open = (workspace: string): Promise<Gateway> =>
  fixture.open({
    workspace,
    policy: { limits: { sessions: 10_000, startsPerMinute: 1_000_000 } },
    approve: async () => ({ decision: "deny", who: "tester" }),
  });

async function runAll(gateway: Gateway, commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    const result = await gateway.run({ command, env: ENV });
    assert.equal(result.exitCode, 0, `${command}: ${result.status} ${result.stderr} ${result.error?.message ?? ""}`);
    assert.deepEqual(
      result.warnings.filter((text) => /created|git runs programs/.test(text)),
      [],
      command,
    );
  }
}

test("a command can work in an existing repository", async () => {
  const upstream = repository("upstream");
  const place = newFolder("work");
  git(place, "clone", "-q", upstream, ".");
  const gateway = await open(place);
  await runAll(gateway, [
    "echo a > a && git add a && git commit -qm a",
    "git checkout -qb topic && echo b > b && git add b && git commit -qm b",
    "git checkout -q - && echo c > c && git add c && git commit -qm c",
    "git merge -q --no-edit topic",
    "git checkout -q topic && git rebase -q main",
    "echo d >> a && git stash -q && git stash pop -q && git checkout -q a",
    "git fetch -q && git tag v1 && git branch -q -D main",
    "git cherry-pick --allow-empty HEAD~1 >/dev/null || git cherry-pick --skip",
    "echo e > e && git add e && git commit -qm e && git revert --no-edit HEAD >/dev/null && git reset -q --hard HEAD~1",
    "git gc -q && git fsck && git reflog >/dev/null",
    "git worktree add -q tree && echo x > tree/x && git -C tree add x && git -C tree commit -qm x",
    "git worktree list && git worktree remove tree && git worktree prune",
    "git bisect start -q && git bisect reset -q; git clean -fdq; git log --oneline | head -1",
    "echo ignored >> .git/info/exclude && git notes add -m note && git archive HEAD > /dev/null",
  ]);
  await gateway.close();
});

test("a command can create, configure, move and delete its own repositories", async () => {
  const upstream = repository("upstream");
  const place = repository("work");
  const gateway = await open(place);
  await runAll(gateway, [
    `git clone -q ${upstream} vendor/copy`,
    "git -C vendor/copy config user.name agent && git -C vendor/copy remote add other ../x",
    "mv vendor/copy vendor/moved && git -C vendor/moved status",
    "git init -q new && cd new && git config user.name agent && git commit -q --allow-empty -m x",
    "git init -q --bare bare.git && git -C new push -q ../bare.git HEAD:main",
    "rm -rf vendor new bare.git",
  ]);
  await gateway.close();
});

test("a command can start a project in an empty workspace", async () => {
  const gateway = await open(newFolder("empty"));
  await runAll(gateway, [
    "git init -q -b main",
    "echo x > x && git add . && git commit -qm x",
    "git checkout -qb topic && git commit -q --allow-empty -m y && git merge -q main",
  ]);
  await gateway.close();
});

test("a command can use submodules and filters that a person configured", async () => {
  const inner = repository("inner");
  const outer = repository("outer");
  git(outer, "submodule", "add", "-q", inner, "lib/inner");
  git(outer, "commit", "-qm", "submodule");
  const place = newFolder("clone");
  git(place, "clone", "-q", outer, ".");
  git(place, "submodule", "init", "-q");
  git(place, "config", "filter.upper.clean", "tr a-z A-Z");
  git(place, "config", "filter.upper.smudge", "cat");
  const gateway = await open(place);
  await runAll(gateway, [
    "git -c protocol.file.allow=always submodule update -q",
    "cd lib/inner && git checkout -q -b topic && echo x > x && git add x && git commit -qm x",
    "git add lib/inner && git commit -qm 'update submodule' && git submodule status",
    "git -c protocol.file.allow=always submodule update -q && git -C lib/inner fetch -q",
    "echo '*.up filter=upper' > .gitattributes && echo text > a.up && git add . && git commit -qm filter",
    'test "$(git show HEAD:a.up)" = TEXT && rm a.up && git checkout -q a.up',
    `git -c protocol.file.allow=always clone -q --recurse-submodules ${outer} nested && rm -rf nested`,
  ]);
  await gateway.close();
});

test("a command can commit in a linked worktree, whose repository is elsewhere", async () => {
  const main = repository("main");
  const tree = join(newFolder("trees"), "tree");
  git(main, "worktree", "add", "-q", tree);
  const gateway = await open(tree);
  await runAll(gateway, [
    "echo x > x && git add x && git commit -qm x && git checkout -qb other && git commit -q --allow-empty -m y",
    "git stash list && git log --oneline -2 && git merge -q tree",
  ]);
  const other = join(main, ".git/worktrees/tree");
  const planted = await gateway.run({
    command: `echo /x > ${other}/commondir; echo /x > ${other}/gitdir; echo x > ${other}/config.worktree; mkdir ${other}/../x`,
  });
  assert.notEqual(planted.exitCode, 0);
  git(tree, "status");
  await gateway.close();
});

test("a repository in a folder of packages is not protected, and its folder can be deleted", async () => {
  const place = repository("packages");
  const package_ = join(place, "node_modules/package");
  mkdirSync(package_, { recursive: true });
  git(package_, "init", "-q");
  const gateway = await open(place);
  await runAll(gateway, ["rm -rf node_modules"]);
  await gateway.close();
});
