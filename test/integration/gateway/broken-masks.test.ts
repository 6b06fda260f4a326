import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, beforeEach, test } from "node:test";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import type { GatewayOptions } from "../../../src/gateway/options.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { OtherGateway } from "../../fixtures/other-gateway.ts";
import { until } from "../../fixtures/until.ts";

const skip = sandboxCapabilities().mounts === "none" ? "needs mount namespaces" : false;
const fixture = new GatewayFixture();
after(() => fixture.close());

const SANDBOXED: GatewayOptions["policy"] = {
  sandbox: "workspace-write",
  limits: { sessions: 10_000, startsPerMinute: 1_000_000 },
};
const CONFIG = fixture.path(".git/config");
/** Appends to the repository's configuration, which would run a command when a person uses git. */
const ATTACK = "echo up; while :; do printf '[core]\\n\\tfsmonitor = id\\n' >> .git/config; done 2> /dev/null";

const GIT_USER = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@a", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@a" };
const ENV = { ...GIT_USER, PATH: process.env.PATH, HOME: fixture.folder, GIT_CONFIG_NOSYSTEM: "1" };

/** Runs git outside the sandbox, as a person does. */
function git(...args: string[]): void {
  execFileSync("git", args, { cwd: fixture.workspace, stdio: "ignore", env: ENV });
}

beforeEach(() => {
  rmSync(fixture.workspace, { recursive: true });
  mkdirSync(fixture.workspace);
  git("init", "--initial-branch=main");
  writeFileSync(fixture.path("file"), "one\n");
  git("add", ".");
  git("commit", "--message=first");
});

/** Starts a command and waits until it runs. */
async function start(gateway: Gateway, command: string) {
  const session = await gateway.start({ command });
  await until("the command runs", async () => (await session.logs()).text.includes("up"));
  return session;
}

test("a command is killed when a person replaces a protected file, and every surface says why", { skip }, async () => {
  const gateway = await fixture.open({ policy: SANDBOXED });
  const session = await start(gateway, ATTACK);
  git("config", "user.name", "ann");
  const info = await session.wait();
  assert.equal(info.status, "killed");
  assert.equal(info.error?.type, "MaskBroken");
  const { message = "", recovery = [] } = info.error ?? {};
  assert.ok(message.includes(`${CONFIG} was created, replaced or moved while the command ran`), message);
  assert.match(recovery[0]?.hint ?? "", /A person must inspect the path before using git or an editor there/);
  const warning = info.warnings.find((text) => text.includes(CONFIG)) ?? "";
  assert.match(warning, /the command was killed; inspect it before you use git or an editor there/);
  const [entry, ...others] = gateway.audit.search({ session: info.id, kind: "mask" });
  assert.deepEqual(others, []);
  assert.deepEqual([entry?.outcome, entry?.detail], ["killed", { reaction: "kill", count: 1, paths: [CONFIG] }]);
  assert.equal(gateway.audit.search({ session: info.id, kind: "exit" })[0]?.outcome, "killed");
});

test("with `maskFailure: warn` the command continues, and its result has the warning", { skip }, async () => {
  const gateway = await fixture.open({ policy: { ...SANDBOXED, maskFailure: "warn" } });
  const running = gateway.run({ command: "touch up; until [ -e go ]; do sleep 0.01; done; echo done" });
  await until("the command runs", () => existsSync(fixture.path("up")));
  git("config", "user.name", "ann");
  writeFileSync(fixture.path("go"), "");
  const result = await running;
  assert.deepEqual([result.status, result.stdout, result.error], ["completed", "done\n", null]);
  const warning = result.warnings.find((text) => text.includes(CONFIG)) ?? assert.fail(result.warnings.join("\n"));
  assert.match(warning, /inspect it before you use git or an editor there$/);
  assert.doesNotMatch(warning, /killed/);
  assert.deepEqual(gateway.session(result.id).info().warnings, result.warnings);
  assert.equal(gateway.audit.search({ session: result.id, kind: "mask" })[0]?.outcome, "warned");
});

test("a workspace file can choose `kill`, but not `warn`", { skip }, async () => {
  for (const [operator, workspace] of [
    ["warn", "kill"],
    ["kill", "warn"],
  ] as const) {
    writeFileSync(fixture.path("sallyport.json"), JSON.stringify({ maskFailure: workspace }));
    const gateway = await fixture.open({
      configuration: undefined,
      policy: { ...SANDBOXED, maskFailure: operator },
    });
    const session = await start(gateway, ATTACK);
    git("config", "user.name", "ann");
    assert.equal((await session.wait()).error?.type, "MaskBroken");
    await gateway.close();
  }
});

test("a denied file that a person edits with `sed -i` kills the command", { skip }, async () => {
  writeFileSync(fixture.path("secret"), "one");
  const gateway = await fixture.open({ policy: { ...SANDBOXED, denied: ["secret"] } });
  const session = await start(gateway, "echo up; until cat secret; do :; done 2> /dev/null; sleep 600");
  execFileSync("sed", ["-i", "s/one/two/", fixture.path("secret")]);
  const info = await session.wait();
  assert.equal(info.error?.type, "MaskBroken");
  assert.ok(
    info.warnings.some((text) => text.includes(fixture.path("secret"))),
    info.warnings.join("\n"),
  );
});

test("a denied file that appears kills the command", { skip }, async () => {
  const gateway = await fixture.open({ policy: { ...SANDBOXED, denied: ["later/secret"] } });
  const session = await start(gateway, "echo up; sleep 600");
  mkdirSync(fixture.path("later"));
  writeFileSync(fixture.path("later/secret"), "x");
  assert.match((await session.wait()).error?.message ?? "", /later\/secret was created/);
});

test("a person's everyday use of the workspace does not kill a command", { skip }, async () => {
  const gateway = await fixture.open({ policy: SANDBOXED });
  const session = await start(gateway, ATTACK);
  git("switch", "--create", "topic");
  writeFileSync(fixture.path("file"), "two\n");
  git("commit", "--all", "--message=second");
  git("switch", "main");
  git("merge", "--no-ff", "topic");
  git("stash", "--include-untracked");
  git("gc");
  git("tag", "v1");
  git("worktree", "add", "../tree");
  git("worktree", "remove", "../tree");
  mkdirSync(fixture.path("src"));
  execFileSync("sed", ["-i", "s/one/two/", fixture.path("file")]);
  await session.kill({ graceMs: 0 });
  const info = await session.wait();
  assert.deepEqual(
    [info.status, info.error, info.warnings.filter((text) => text.includes(".git"))],
    ["killed", null, []],
  );
});

test("git commands in the sandbox do not count as broken masks", { skip }, async () => {
  const gateway = await fixture.open({ policy: SANDBOXED });
  git("branch", "other");
  const commands = [
    "git init || true",
    "echo two > file && git add . && git commit -m second",
    "git checkout other && echo three > new && git add . && git commit -m third && git checkout main",
    "git merge --no-edit other",
    "git checkout other && git rebase main && git checkout main",
    "echo four > file && git stash && git stash pop && git checkout file",
    "git reset --soft HEAD && git reflog && git revert --no-edit -m 1 HEAD && git cherry-pick --no-commit HEAD~1 -m 1",
    "git reset --hard && git tag -a v1 -m v1",
    "git gc && git prune && git fsck && git repack -ad && git pack-refs --all",
    "git worktree add tree && git -C tree commit --allow-empty -m x && git worktree remove tree && git worktree prune",
    "git clone . copy && cd copy && git fetch && git pull && git commit --allow-empty -m x && git push origin HEAD:pushed",
    "git bisect start && git bisect reset; git notes add -m x; git clean -fd; git update-index --refresh",
    "git init fresh && cd fresh && git commit --allow-empty -m x",
  ];
  for (const command of commands) {
    const { status, exitCode, error, stderr } = await gateway.run({ command, env: GIT_USER });
    assert.deepEqual([status, exitCode, error], ["completed", 0, null], `${command}: ${stderr}`);
  }
});

test("scaffolding in a workspace without a repository is allowed, with a warning", { skip }, async () => {
  rmSync(fixture.path(".git"), { recursive: true });
  const gateway = await fixture.open({ policy: SANDBOXED });
  const created = await gateway.run({
    command: "git init && mkdir x && touch x/y && touch -d 2001-01-01 x && mv x .vscode",
  });
  assert.deepEqual([created.status, created.exitCode], ["completed", 0], created.stderr);
  const warning = created.warnings.find((text) => text.includes("the command created")) ?? "";
  assert.ok(warning.includes(fixture.path(".vscode")), created.warnings.join("\n"));
  const again = await gateway.run({ command: "true" });
  assert.ok(!again.warnings.some((text) => text.includes("the command created")), again.warnings.join("\n"));
});

test("a gateway that starts after `kill -9` of another one reports the broken mask", { skip }, async () => {
  const other = await OtherGateway.open(fixture, { options: { policy: SANDBOXED } });
  const { id } = await other.ask<{ id: string }>({ call: "start", request: { command: ATTACK } });
  await until("the command runs", async () => (await other.ask<string>({ call: "logs", id })).includes("up"));
  await other.kill();
  git("config", "user.name", "ann");
  await until("the command has been killed", () => fixture.alive().length === 0);
  const gateway = await fixture.open({ policy: SANDBOXED });
  const info = await gateway.session(id).wait();
  assert.deepEqual([info.status, info.error?.type], ["killed", "MaskBroken"]);
  assert.ok(
    info.warnings.some((text) => text.includes(CONFIG)),
    info.warnings.join("\n"),
  );
  assert.deepEqual(
    gateway.audit.search({ session: id, kind: "mask" }).map(({ outcome }) => outcome),
    ["killed"],
  );
  assert.match(readFileSync(CONFIG, "utf8"), /ann/);
});
