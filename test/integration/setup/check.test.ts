import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { HostMachine } from "../../fixtures/host-machine.ts";
import { ENTRY } from "../../fixtures/sallyport.ts";

test("setup --check reports that no host is installed, and hosts that are not set up", async (t) => {
  const machine = new HostMachine(t);
  assert.deepEqual(await machine.check(), { code: 0, hosts: [] });
  const { stderr, code } = await machine.run(["setup", "--check"]);
  assert.equal(code, 0);
  assert.match(stderr, /No agent host is installed/);
  machine.install("codex");
  const { hosts } = await machine.check();
  assert.deepEqual(
    hosts.map(({ host, installed, status }: Record<string, string>) => [host, installed, status]),
    [["codex", join(machine.programs, "codex"), "not set up"]],
  );
  const text = await machine.run(["setup", "--check"]);
  assert.match(text.stdout, /^codex\tnot set up\trun `sallyport setup codex`\n$/);
});

test("setup --check starts the servers as the hosts would, and names the ways around that remain", async (t) => {
  const machine = new HostMachine(t);
  for (const program of ["codex", "copilot", "gemini"]) machine.install(program);
  for (const host of ["codex", "copilot", "gemini", "continue"]) await machine.setup(host);
  const gemini = join(machine.home, ".gemini/settings.json");
  const config = JSON.parse(readFileSync(gemini, "utf8"));
  config.mcpServers.shell = { command: "npx", args: ["-y", "shell-server"] };
  config.tools.exclude = [];
  writeFileSync(gemini, JSON.stringify(config));
  // The project turns the shell of Codex on again.
  mkdirSync(join(machine.project, ".codex"));
  writeFileSync(join(machine.project, ".codex/config.toml"), "[features]\nshell_tool = true\n");

  const { code, hosts } = await machine.check();
  assert.equal(code, 0);
  const found = Object.fromEntries(
    hosts.map(({ host, status, connections, waysAround }: (typeof hosts)[0]) => [
      host,
      [status, connections[0].tools.join(" "), waysAround],
    ]),
  );
  const shellOn = (tools: string, host: string) =>
    `its own shell (${tools}) is still offered; run \`sallyport setup ${host}\``;
  assert.deepEqual(found, {
    codex: ["connected", "Bash BashOutput KillShell", [shellOn("shell, exec_command", "codex")]],
    gemini: [
      "connected",
      "Bash BashOutput KillShell",
      [shellOn("run_shell_command", "gemini"), "the MCP server `shell` may run commands"],
    ],
    copilot: [
      "connected",
      "Bash BashOutput KillShell",
      ["its own `bash` tool, unless it is started with `copilot --excluded-tools bash`"],
    ],
    continue: ["connected", "exec process", []],
  });
});

test("setup --check finds the server that Claude Code stores for one project", async (t) => {
  const machine = new HostMachine(t);
  const entry = { command: process.execPath, args: [ENTRY, "mcp"] };
  const projects = { [machine.project]: { mcpServers: { mine: entry } }, "/other": { mcpServers: { theirs: entry } } };
  machine.write(".claude.json", JSON.stringify({ projects }));
  const { hosts } = await machine.check();
  assert.deepEqual(
    hosts[0].connections.map(({ name, status }: { name: string; status: string }) => [name, status]),
    [["mine", "connected"]],
  );
  assert.match(hosts[0].waysAround[0], /its own shell \(Bash, Monitor\) is still offered/);
});

test("setup --check reports a name clash, a missing program, an old Node and a broken file", async (t) => {
  const machine = new HostMachine(t);
  await machine.setup("continue", "--tools", "bash");
  await machine.setup("codex");
  await machine.setup("gemini");
  const gemini = join(machine.home, ".gemini/settings.json");
  writeFileSync(gemini, readFileSync(gemini, "utf8").replace(process.execPath, "/opt/removed/bin/node"));
  // A program with the name of Node that fails as an old version does.
  const old = join(machine.home, "old/node");
  mkdirSync(join(machine.home, "old"));
  writeFileSync(old, "#!/bin/sh\necho 'sallyport: requires Node 22.19 or newer' >&2\nexit 125\n", { mode: 0o755 });
  const codex = join(machine.home, ".codex/config.toml");
  writeFileSync(codex, readFileSync(codex, "utf8").replace(process.execPath, old));
  machine.write(".qwen/settings.json", '{ "mcpServers": ');
  const { code, hosts } = await machine.check();
  assert.equal(code, 1);
  const of = (name: string) => hosts.find(({ host }: { host: string }) => host === name);
  assert.deepEqual(of("continue").waysAround, ["its own tool `Bash` replaces the one of Sallyport with the same name"]);
  assert.match(
    of("gemini").connections[0].message,
    /\/opt\/removed\/bin\/node is not an existing program; run `sallyport setup` again/,
  );
  assert.equal(
    of("codex").connections[0].message,
    "it ended with exit code 125: sallyport: requires Node 22.19 or newer",
  );
  assert.match(of("qwen").problems[0], /settings\.json:1: value expected/);
  assert.deepEqual([of("gemini").status, of("codex").status, of("qwen").status], ["broken", "broken", "broken"]);
});

test("setup --check starts nothing that a project chooses (invariant 7)", async (t) => {
  const machine = new HostMachine(t);
  const started = join(machine.project, "started");
  const script = join(machine.project, "evil.sh");
  writeFileSync(script, `#!/bin/sh\ntouch '${started}'\n`, { mode: 0o755 });
  const node = join(machine.project, "node");
  writeFileSync(node, `#!/bin/sh\ntouch '${started}'\n`, { mode: 0o755 });
  const writable = join(machine.home, "node");
  writeFileSync(writable, `#!/bin/sh\ntouch '${started}'\n`);
  chmodSync(writable, 0o777);
  const above = join(machine.sandbox.folder, "repository/node");
  mkdirSync(dirname(above));
  writeFileSync(above, `#!/bin/sh\ntouch '${started}'\n`, { mode: 0o755 });
  const entries: [entry: { command: string; args: string[]; env?: Record<string, string> }, message: RegExp][] = [
    [{ command: script, args: [ENTRY, "mcp"] }, /runs another program/],
    [{ command: "sh", args: ["-c", `touch ${started}`, ENTRY, "mcp"] }, /runs another program/],
    [{ command: node, args: [ENTRY, "mcp"] }, /which others can change/],
    [{ command: "./node", args: [ENTRY, "mcp"] }, /not an existing program/],
    [{ command: writable, args: [ENTRY, "mcp"] }, /which others can change/],
    [{ command: process.execPath, args: ["--require", script, ENTRY, "mcp"] }, /runs another program/],
    [{ command: process.execPath, args: [ENTRY, "mcp"], env: { NODE_OPTIONS: `--require ${script}` } }, /NODE_OPTIONS/],
    [{ command: process.execPath, args: [ENTRY, "mcp"], env: { XDG_CONFIG_HOME: machine.project } }, /XDG_CONFIG_HOME/],
    [{ command: process.execPath, args: [ENTRY, "mcp", "--state", machine.project] }, /the option --state/],
    [{ command: process.execPath, args: [ENTRY, "run", "-c", `touch ${started}`] }, /runs another program/],
    [{ command: above, args: [ENTRY, "mcp"] }, /not the Node of this check/],
    // Node would find it in the working directory, although PATH has another one.
    [{ command: process.execPath, args: ["sallyport.js", "mcp"] }, /runs another program/],
  ];
  symlinkSync(ENTRY, join(machine.programs, "sallyport.js"));
  writeFileSync(
    join(machine.project, "sallyport.js"),
    `require("node:fs").writeFileSync(${JSON.stringify(started)}, "")`,
  );
  for (const [entry, message] of entries) {
    writeFileSync(join(machine.project, ".mcp.json"), JSON.stringify({ mcpServers: { sallyport: entry } }));
    const { code, hosts } = await machine.check("claude-code");
    assert.equal(code, 1, JSON.stringify(entry));
    assert.match(hosts[0].connections[0].message, message);
    assert.ok(!existsSync(started), JSON.stringify(entry));
  }
  rmSync(join(machine.project, ".mcp.json"));
  // Programs that read a file of the project, such as `make`, are given our script as an argument only.
  const reader = join(machine.sandbox.folder, "repository/make");
  writeFileSync(reader, `#!/bin/sh\ntouch '${started}'\n`, { mode: 0o755 });
  mkdirSync(join(machine.project, ".claude"));
  for (const [program, given, message] of [
    [reader, ENTRY, /runs another program/],
    [above, ENTRY, /not the Node of this check/],
    [process.execPath, "sallyport.js", /runs another program/],
  ] as const) {
    const command = `${program} ${given} hook claude-code`;
    const settings = { hooks: { PreToolUse: [{ hooks: [{ type: "command", command }] }] } };
    writeFileSync(join(machine.project, ".claude/settings.json"), JSON.stringify(settings));
    const { code, hosts } = await machine.check("claude-code");
    assert.equal(code, 1, command);
    assert.match(hosts[0].connections[0].message, message);
    assert.ok(!existsSync(started), command);
  }
});

test("doctor reports agent hosts without starting their servers", async (t) => {
  const machine = new HostMachine(t);
  const finding = async () => {
    const { stdout } = await machine.run(["doctor", "--json"]);
    return JSON.parse(stdout).findings.find(({ name }: { name: string }) => name === "agent hosts");
  };
  assert.deepEqual(await finding(), { name: "agent hosts", status: "ok", message: "none found", fix: null });
  await machine.setup("gemini");
  await machine.setup("copilot");
  machine.install("codex");
  const { status, message } = await finding();
  assert.equal(status, "ok");
  assert.match(
    message,
    /^Codex is not set up; Gemini CLI is set up; GitHub Copilot CLI is set up, but its own `bash` tool/,
  );
  const settings = join(machine.home, ".gemini/settings.json");
  const text = readFileSync(settings, "utf8");
  writeFileSync(settings, text.replace("run_shell_command", "other"));
  const warning = await finding();
  assert.equal(warning.status, "warn");
  assert.match(warning.message, /Gemini CLI: its own shell \(run_shell_command\) is still offered/);
  assert.match(warning.fix, /sallyport setup --check/);
  writeFileSync(settings, text.replace(process.execPath, "/removed/node"));
  assert.match((await finding()).message, /Gemini CLI: .*settings\.json:3: \/removed\/node is not an existing program/);
});
