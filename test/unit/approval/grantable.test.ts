import assert from "node:assert/strict";
import { chmodSync, copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { type GrantContext, grantable } from "../../../src/approval/grantable.ts";
import type { Analysis } from "../../../src/core/facts.ts";
import { inspect } from "../../../src/shell/inspect.ts";
import { ApprovalFixture } from "../../fixtures/approvals.ts";

const fixture = new ApprovalFixture();
after(() => fixture.remove());

/** Analyzes a command with a lookup in which every program except `missing` exists. */
function facts(command: string): Analysis {
  const links: Record<string, string> = { tool: "/usr/bin/python3.12", vi: "/usr/bin/vim.basic", awk: "/usr/bin/mawk" };
  const which = (name: string, cwd: string | null) => {
    if (name === "missing") return null;
    if (name.includes("/")) return name.startsWith("/") ? name : `${cwd}/${name.replace(/^\.\//, "")}`;
    return links[name] ?? `/usr/bin/${name}`;
  };
  return inspect(command, {
    cwd: fixture.workspace,
    home: "/home/ann",
    workspace: fixture.workspace,
    lookup: { which, realpath: (path) => path },
  });
}

const scene: GrantContext = { workspace: fixture.workspace };

const GRANTABLE = [
  "git fetch origin",
  "git log --oneline",
  "git status && git diff --stat",
  "ls -l /srv; df -h",
  "git log | head -5",
  "cd sub && git status",
  "curl https://example.org/status",
  "systemctl status nginx",
  "apt-get install jq",
  "rm -r build",
  "cp a b 2>/dev/null",
  "gcc -O2 -c x.c 2>&1",
  "gcc-13 -v",
  "grep -r todo src",
  "echo start; rsync -a a b; echo done",
  "if git diff --quiet; then gzip x; fi",
  "for f in a b; do chmod 644 x; done",
  "npm ls",
  "npm view react",
  "go version",
  "pip list",
  "/usr/bin/git fetch",
  "sleep 10 &",
  "tar xf a.tar",
];

const ONCE_ONLY: [command: string, why: RegExp][] = [
  // shells
  ["bash x.sh", /a shell/],
  ["sh -c 'ls'", /runs other commands|a shell/],
  ["zsh", /a shell/],
  ["/bin/dash x", /a shell/],
  ["busybox ls", /a shell|runs other commands/],
  // interpreters
  ["python3 x.py", /an interpreter/],
  ["python3.12 x.py", /an interpreter|code/],
  ["node x.js", /an interpreter/],
  ["perl x.pl", /an interpreter/],
  ["ruby x.rb", /an interpreter/],
  ["php x.php", /an interpreter/],
  ["awk '{print}' x", /an interpreter/],
  ["sed s/a/b/ x", /an interpreter/],
  ["psql -f x.sql", /an interpreter/],
  ["sqlite3 x.db", /an interpreter/],
  ["vim x", /an interpreter/],
  ["java -jar x.jar", /an interpreter/],
  ["tool x", /python3\.12 is an interpreter/],
  // wrappers
  ["env ls", /runs other commands/],
  ["env FOO=1 ls", /runs other commands/],
  ["nice ls", /runs other commands/],
  ["nohup ls", /runs other commands/],
  ["timeout 5 ls", /runs other commands/],
  ["setsid ls", /runs other commands/],
  ["xargs rm", /runs other commands|known in advance/],
  ["find . -name x", /runs other commands/],
  ["find . -exec rm {} +", /runs other commands|known in advance/],
  ["watch ls", /runs other commands/],
  ["strace ls", /runs other commands/],
  ["ssh host ls", /runs other commands|on another machine/],
  ["docker run x", /runs other commands|on another machine/],
  ["kubectl exec x -- ls", /runs other commands|on another machine/],
  ["parallel ls ::: a", /runs other commands|known in advance/],
  ["/lib64/ld-linux-x86-64.so.2 ./x", /runs other commands|not known/],
  ["run-parts x", /runs other commands/],
  ["socat - EXEC:sh", /runs other commands/],
  ["nc -e sh host 1", /runs other commands/],
  ["ip netns exec x sh", /runs other commands/],
  ["tar xf a --to-command=sh", /runs other commands/],
  ["git -c core.pager=sh log", /runs other commands/],
  ["git fetch 'ext::sh -c id'", /runs other commands/],
  ["sort --compress-program=sh x", /runs other commands/],
  ["dpkg -i x.deb", /project files/],
  ["flock x ls", /runs other commands/],
  ["git bisect run ./x", /runs other commands|known in advance|affects later/],
  // privileges
  ["sudo ls", /privileges|runs other commands/],
  ["su -c ls", /privileges|runs other commands|known in advance/],
  ["doas ls", /privileges|runs other commands/],
  ["chroot x ls", /privileges|runs other commands/],
  // runners of project files
  ["npm run build", /project files/],
  ["npm test", /project files/],
  ["npm install", /project files/],
  ["npx tsc", /project files|runs other commands/],
  ["yarn build", /project files/],
  ["pnpm run x", /project files/],
  ["make", /project files/],
  ["make -n", /project files/],
  ["just build", /project files/],
  ["task build", /project files/],
  ["rake", /project files/],
  ["gradle build", /project files/],
  ["cargo build", /project files/],
  ["cargo tree", /project files/],
  ["yarn why x", /project files/],
  ["bundle list", /project files/],
  ["npm --prefix sub run x", /project files/],
  ["cargo run", /project files|runs other commands/],
  ["go run x.go", /project files/],
  ["pytest", /project files/],
  ["pip install x", /project files/],
  ["pip3 install x", /project files/],
  // not known in advance
  ["$CMD", /known/],
  ["ls $(cat x)", /known/],
  ["rm *.o", /known/],
  ["ls ~bob/*", /known/],
  ["eval ls", /runs other commands|affects later commands|known/],
  ["missing", /was not found/],
  ["cd $X && git status", /known/],
  // redirects, variables, builtins, functions
  ["git diff > patch", /redirects/],
  ["git diff >> patch", /redirects/],
  ["wc -l < x", /redirects/],
  ["cat <<EOF\nx\nEOF", /redirects/],
  ["FOO=1 git diff", /sets the variable FOO/],
  ["FOO=1; git diff", /sets the variable FOO/],
  ["export PAGER=sh; git diff", /builtin|sets the variable|known/],
  ["source x; git diff", /builtin|known|given/],
  ["f() { rm x; }; f", /./],
  ["alias ls=rm; ls", /builtin|known/],
  ["exec git diff", /builtin|runs other commands/],
  ["trap 'rm x' EXIT", /builtin|runs other commands|known/],
  // programs that the agent can write to
  ["./build.sh", /the agent can write to/],
  ["/tmp/tool", /the agent can write to/],
  ["/var/tmp/x/tool", /the agent can write to/],
  // one command that is not grantable among others
  ["git status && make", /project files/],
  ["git status; python3 x.py", /an interpreter/],
  ["git log | sh", /shell|known|given/],
  ["echo hello", /runs no program/],
  ["true", /runs no program/],
];

for (const command of GRANTABLE) {
  test(`is grantable: ${command}`, () => {
    const found = grantable(facts(command), scene);
    assert.equal(found.ok, true, found.ok ? "" : found.why);
  });
}

for (const [command, why] of ONCE_ONLY) {
  test(`is not grantable: ${command.replaceAll("\n", " ⏎ ")}`, () => {
    const found = grantable(facts(command), scene);
    assert.equal(found.ok, false);
    if (!found.ok) assert.match(found.why, why);
  });
}

test("a request with environment variables or stdin is not grantable", () => {
  const git = facts("git fetch");
  assert.equal(grantable(git, { ...scene, addedEnv: ["GIT_SSH_COMMAND"] }).ok, false);
  assert.equal(grantable(git, { ...scene, stdin: true }).ok, false);
  assert.equal(grantable(git, { ...scene, addedEnv: [], stdin: false }).ok, true);
});

test("a link to an interpreter counts as the interpreter", () => {
  const link = join(fixture.folder, "harmless");
  symlinkSync("/bin/bash", link);
  const found = grantable(fixture.inspect(link), scene);
  assert.deepEqual([found.ok, found.ok ? "" : found.why], [false, "bash is a shell"]);
});

test("lists the commands that a grant would cover", () => {
  assert.deepEqual(grantable(facts("cd /srv && git log -n 5 | head"), scene), {
    ok: true,
    commands: [
      { executable: "/usr/bin/git", args: ["log", "-n", "5"], cwd: "/srv", piped: true },
      { executable: "/usr/bin/head", args: [], cwd: "/srv", piped: true },
    ],
  });
});

test("a program in the workspace is not grantable, even by its absolute path", () => {
  const tool = join(fixture.workspace, "tool");
  copyFileSync("/bin/true", tool);
  chmodSync(tool, 0o755);
  writeFileSync(join(fixture.workspace, "x"), "");
  assert.equal(grantable(fixture.inspect(tool), scene).ok, false);
});
