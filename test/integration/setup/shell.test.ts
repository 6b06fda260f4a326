import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { HostMachine } from "../../fixtures/host-machine.ts";

/** The hosts with a setting for their shell, and the rest of their settings. */
const SETTINGS: Readonly<Record<string, [path: string, text: string]>> = {
  "claude-code": [".claude/settings.json", '{\n  "env": { "A": "b" } // mine\n}\n'],
  opencode: [".config/opencode/opencode.jsonc", '{\n  "theme": "x" // mine\n}\n'],
};
/** The hosts that get their shell from a variable. */
const VARIABLES: Readonly<Record<string, [program: string, line: RegExp]>> = {
  gemini: ["gemini", /^alias gemini='PATH=.+\/shells\/gemini:"\$PATH" gemini'$/],
  qwen: ["qwen", /^alias qwen=/],
  continue: ["cn", /^alias cn='SHELL=.+\/shells\/continue\/bash cn'$/],
  goose: ["goose", /^alias goose='GOOSE_SHELL=/],
};

const shellOf = (machine: HostMachine, host: string) => join(machine.sandbox.state, "shells", host, "bash");

test("setup --mode shell names our shell in the settings of a host, and --remove restores them", async (t) => {
  const machine = new HostMachine(t);
  for (const [host, [path, text]] of Object.entries(SETTINGS)) {
    const file = machine.write(path, text);
    assert.equal((await machine.setup(host, "--mode", "shell")).outcome, "set up");
    assert.equal((await machine.setup(host, "--mode", "shell")).outcome, "already set up");
    const shell = shellOf(machine, host);
    assert.ok(readFileSync(file, "utf8").includes(JSON.stringify(shell)));
    assert.equal(statSync(shell).mode & 0o777, 0o700);
  }
  // As a host, which runs in the project, starts its shell.
  const shell = shellOf(machine, "claude-code");
  const asHost = (command: string) => {
    const script = `require("node:child_process").spawnSync(process.env.SHELL, ["-c", process.argv[1]], { stdio: "inherit" })`;
    const env = { ...process.env, ...machine.env, SHELL: shell };
    return spawnSync(process.execPath, ["-e", script, command], { cwd: machine.project, encoding: "utf8", env });
  };
  const blocked = asHost("echo ran; rm -rf /");
  assert.match(blocked.stderr, /Blocked/);
  assert.equal(blocked.stdout, "");
  // The state folder is hidden from the command, and so is our shell.
  const inner = asHost('$SHELL -c "echo inner"');
  assert.equal(inner.stdout, "inner\n", inner.stderr);
  const { code, hosts } = await machine.check();
  assert.equal(code, 0, JSON.stringify(hosts));
  for (const { status, connections, waysAround } of hosts) {
    assert.deepEqual([status, connections[0].mode, waysAround.length], ["connected", "shell", 1]);
    assert.match(waysAround[0], /^a project can name another shell/);
  }
  for (const [host, [path, text]] of Object.entries(SETTINGS)) {
    assert.equal((await machine.setup(host, "--remove")).outcome, "removed");
    assert.equal(readFileSync(join(machine.home, path), "utf8"), text);
  }
  assert.throws(() => statSync(join(machine.sandbox.state, "shells")), /ENOENT/);
});

test("setup --mode shell prints the line for a host whose shell only a variable changes", async (t) => {
  const machine = new HostMachine(t);
  for (const [host, [program, expected]] of Object.entries(VARIABLES)) {
    machine.install(program);
    const { stderr } = await machine.run(["setup", host, "--mode", "shell"]);
    const line =
      stderr
        .split("\n")
        .find((each) => each.startsWith("  alias "))
        ?.trim() ?? assert.fail(stderr);
    assert.match(line, expected);
    const before = (await machine.check(host)).hosts[0];
    assert.equal(before.status, "connected");
    assert.match(before.waysAround[0], /its own shell, unless it is started with this line .*: alias /);
    machine.write(".bashrc", `# mine\n${line}\n`);
    assert.deepEqual((await machine.check(host)).hosts[0].waysAround, []);
    // The line gives the program our shell.
    const show = '#!/bin/sh\nprintf "%s\\n" "$SHELL" "$GOOSE_SHELL" "$(command -v bash)"\n';
    writeFileSync(join(machine.programs, program), show);
    const shown = spawnSync("/bin/bash", ["-O", "expand_aliases", "-c", `${line}\n${program}`], {
      encoding: "utf8",
      env: machine.env,
    });
    assert.ok(shown.stdout.includes(shellOf(machine, host)), shown.stdout + shown.stderr);
  }
});

test("setup --check reports another shell of the project, and a missing one", async (t) => {
  const machine = new HostMachine(t);
  for (const host of Object.keys(SETTINGS)) await machine.setup(host, "--mode", "shell");
  mkdirSync(join(machine.project, ".claude"));
  const local = JSON.stringify({ env: { CLAUDE_CODE_SHELL: "/bin/bash" } });
  writeFileSync(join(machine.project, ".claude/settings.local.json"), local);
  writeFileSync(join(machine.project, "opencode.json"), '{ "shell": "/bin/bash" }');
  const { hosts } = await machine.check();
  assert.match(hosts[0].waysAround[0], /the project sets another shell in .*settings\.local\.json:1/);
  assert.match(hosts[1].waysAround[0], /the project sets another shell in .*opencode\.json:1/);
  rmSync(shellOf(machine, "opencode"));
  const { code, hosts: now } = await machine.check("opencode");
  assert.deepEqual([code, now[0].status], [1, "broken"]);
  assert.match(now[0].connections[0].message, /shells\/opencode\/bash does not exist; run `sallyport setup` again/);
  const file = join(machine.home, ".claude/settings.json");
  writeFileSync(file, "{}");
  const gone = (await machine.check("claude-code")).hosts[0];
  assert.match(gone.problems[0], /what `sallyport setup claude-code --mode shell` wrote is no longer in /);
  writeFileSync(file, '{ "env": ');
  assert.match((await machine.check("claude-code")).hosts[0].problems[0], /settings\.json:1: value expected/);
});

test("a mode that a host does not have is refused with the reason and an alternative", async (t) => {
  const machine = new HostMachine(t);
  const wrong: [args: string[], message: RegExp][] = [
    [
      ["codex", "--mode", "shell"],
      /Codex cannot be set up with `--mode shell`: it runs .*; use .*`sallyport agent codex`/,
    ],
    [
      ["qwen", "--mode", "hook"],
      /does not run the command that a hook answers with; use `--mode mcp`, `--mode shell`, or `sallyport agent qwen`/,
    ],
    [["vscode", "--mode", "shell"], /the agent could answer approval requests itself; use `--mode mcp`\n/],
    [
      ["opencode", "--mode", "shell", "--scope", "project"],
      /it can be set up for the user only\. *\n *Use `--scope user`/,
    ],
    [["copilot", "--mode", "hook", "--scope", "project"], /for the user only, because it runs .* with `-p`\./],
    [["cline", "--mode", "hook", "--scope", "project"], /it reads no hooks from a project/],
    [["gemini", "--mode", "shell", "--tools", "shell"], /`--tools` cannot be combined with `--mode shell`/],
  ];
  for (const [args, message] of wrong) {
    const { code, stderr } = await machine.run(["setup", ...args]);
    assert.equal(code, 125);
    assert.match(stderr, message);
  }
  assert.deepEqual(
    machine.files(dirname(machine.home)).filter((file) => file.startsWith(machine.home)),
    [],
  );
});
