import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { openDocument } from "../../../src/setup/edit/document.ts";
import { ENTRY, entryPath, SCOPES } from "../../../src/setup/hosts/host.ts";
import { HOSTS } from "../../../src/setup/hosts/index.ts";
import { HostMachine } from "../../fixtures/host-machine.ts";
import { ENTRY as SCRIPT } from "../../fixtures/sallyport.ts";

for (const host of HOSTS) {
  test(`setup ${host.name} writes an entry that starts the server, and --remove deletes the new files`, async (t) => {
    const machine = new HostMachine(t);
    for (const scope of SCOPES) {
      if (host.files.server[scope] === null) {
        const { code, stderr } = await machine.run(["setup", host.name, "--scope", scope]);
        assert.equal(code, 125);
        assert.match(stderr, /Use `--scope user`/);
        continue;
      }
      const { outcome, files } = await machine.setup(host.name, "--scope", scope);
      assert.equal(outcome, "set up");
      const [server] = files.map(({ path }) => path);
      assert.ok(server !== undefined);
      assert.ok(server.startsWith(scope === "user" ? machine.home : machine.project), server);
      const document = openDocument(host.files.server.format, readFileSync(server, "utf8"));
      const entry = document.get(entryPath(host));
      assert.ok(entry !== null && typeof entry === "object" && !Array.isArray(entry));
      const started = host.read(entry);
      assert.equal(started?.command, process.execPath);
      assert.deepEqual(started?.args.slice(0, 4), [SCRIPT, "mcp", "--agent", host.name]);
      // The fixture's state folder is not the default one, and some hosts do not pass on SALLYPORT_STATE.
      assert.deepEqual(started?.args.slice(-2), ["--state", machine.sandbox.state]);
      assert.equal(statSync(server).mode & 0o777, scope === "user" ? 0o600 : 0o644);
      assert.equal((await machine.setup(host.name, "--scope", scope)).outcome, "already set up");
      assert.equal((await machine.setup(host.name, "--scope", scope, "--remove")).outcome, "removed");
    }
    assert.deepEqual([machine.files(machine.home), machine.files(machine.project)], [[], []]);
    assert.deepEqual(readdirSync(machine.home), []);
  });
}

const CODEX = `# my settings
model = "o9" # fast

[mcp_servers.docs]
command = "docs" # mine

[features]
web = true
`;

test("keeps comments and formatting, and restores the file byte for byte", async (t) => {
  const machine = new HostMachine(t);
  const originals: Record<string, [path: string, text: string][]> = {
    codex: [[".codex/config.toml", CODEX]],
    gemini: [
      [
        ".gemini/settings.json",
        '{\r\n\t// mine\r\n\t"theme": "x",\r\n\t"tools": { "exclude": ["web_fetch"] }, // t\r\n}',
      ],
    ],
    "claude-code": [
      [".claude.json", '{"numStartups":3,"mcpServers":{"docs":{"command":"docs"}}}'],
      [".claude/settings.json", '{\n    "permissions": {\n        "deny": ["Bash", "Read(.env)"]\n    }\n}\n'],
    ],
    opencode: [[".config/opencode/opencode.jsonc", '{\n  "permission": { "bash": { "git *": "allow" } }, // b\n}\n']],
    continue: [
      [
        ".continue/config.yaml",
        "name: mine\nmodels:\n  - name: m # best\n\n# servers\nmcpServers:\n- name: docs\n  command: docs",
      ],
      [".continue/permissions.yaml", "# cn\nallow: []\nask: []\nexclude: []\n"],
    ],
    goose: [
      [
        ".config/goose/config.yaml",
        "extensions:\n  developer:\n    enabled: true\n    type: builtin\n    name: developer\nGOOSE_MODE: auto\n",
      ],
    ],
  };
  for (const [host, files] of Object.entries(originals)) {
    const paths = files.map(([path, text]) => machine.write(path, text));
    const { files: changed } = await machine.setup(host);
    assert.ok(changed.length > 0);
    for (const { path } of changed) assert.ok(paths.includes(path), path);
    assert.equal((await machine.setup(host, "--agent", "other")).outcome, "set up");
    assert.match(readFileSync(paths[0] as string, "utf8"), /"?other"?/);
    assert.equal((await machine.setup(host, "--remove")).outcome, "removed");
    for (const [path, text] of files) assert.equal(readFileSync(join(machine.home, path), "utf8"), text);
    assert.equal((await machine.setup(host, "--remove")).outcome, "not set up");
  }
});

test("removes only its own parts from a file that was edited since", async (t) => {
  const machine = new HostMachine(t);
  const config = machine.write(".codex/config.toml", CODEX);
  const settings = machine.write(".claude/settings.json", '{\n  "permissions": { "deny": ["Bash"] }\n}\n');
  await machine.setup("codex");
  await machine.setup("claude-code");
  writeFileSync(config, `${readFileSync(config, "utf8")}\n[tui]\ntheme = "y"\n`);
  // Rewritten by its host, with another format and a key more.
  const state = join(machine.home, ".claude.json");
  writeFileSync(state, JSON.stringify({ ...JSON.parse(readFileSync(state, "utf8")), numStartups: 1 }));
  const edited = JSON.parse(readFileSync(settings, "utf8"));
  edited.permissions.allow.push("Read");
  writeFileSync(settings, JSON.stringify(edited));

  await machine.setup("codex", "--remove");
  await machine.setup("claude-code", "--remove");
  assert.equal(readFileSync(config, "utf8"), `${CODEX}\n[tui]\ntheme = "y"\n`);
  assert.deepEqual(JSON.parse(readFileSync(state, "utf8")), { numStartups: 1 });
  assert.deepEqual(JSON.parse(readFileSync(settings, "utf8")), { permissions: { deny: ["Bash"], allow: ["Read"] } });
});

test("restores an entry of the user, and removes an unrecorded set-up", async (t) => {
  const machine = new HostMachine(t);
  const own = '{ "mcpServers": { "sallyport": { "command": "sallyport", "args": ["mcp"] } } }\n';
  const file = machine.write(".gemini/settings.json", own);
  await machine.setup("gemini");
  assert.equal((await machine.setup("gemini", "--remove")).outcome, "removed");
  assert.equal(readFileSync(file, "utf8"), own);
  await machine.setup("qwen");
  const { stderr } = await machine.run(["setup", "qwen", "--remove", "--state", join(machine.home, "other")]);
  assert.match(stderr, /No earlier setup is recorded/);
  const left = JSON.parse(readFileSync(join(machine.home, ".qwen/settings.json"), "utf8"));
  assert.deepEqual(left, { mcpServers: {}, permissions: { deny: [] } });
});

test("writes through links, and nothing to broken, read-only or foreign files", async (t) => {
  const machine = new HostMachine(t);
  const dotfiles = machine.write("dotfiles/gemini.json", "{}\n");
  chmodSync(dotfiles, 0o640);
  mkdirSync(join(machine.home, ".gemini"));
  const link = join(machine.home, ".gemini/settings.json");
  symlinkSync("../dotfiles/gemini.json", link);
  await machine.setup("gemini");
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.match(readFileSync(dotfiles, "utf8"), /run_shell_command/);
  assert.equal(statSync(dotfiles).mode & 0o777, 0o640);
  assert.deepEqual(readdirSync(dirname(dotfiles)), ["gemini.json"]);

  const refused = async (args: string[], message: RegExp, path: string) => {
    const before = readFileSync(path, "utf8");
    const { code, stderr } = await machine.run(["setup", ...args]);
    assert.equal(code, 125);
    assert.match(stderr, message);
    assert.equal(readFileSync(path, "utf8"), before);
  };
  const broken = machine.write(".codex/config.toml", "model = 'x'\n[features\n");
  await refused(["codex"], /config\.toml:2: expected `\]`\./, broken);
  const readOnly = machine.write(".qwen/settings.json", "{}");
  chmodSync(readOnly, 0o444);
  await refused(["qwen"], /cannot be written \(it is read-only\)/, readOnly);
  // The settings are broken: the state must not be written either.
  const settings = machine.write(".claude/settings.json", '{ "permissions": { "deny": "Bash" } }');
  await refused(["claude-code"], /settings\.json:1: `permissions\.deny` must be a list/, settings);
  assert.ok(!existsSync(join(machine.home, ".claude.json")));
  // An agent could place such a link in a project.
  symlinkSync(broken, join(machine.project, ".mcp.json"));
  await refused(["claude-code", "--scope", "project"], /link to .*outside of the project/, broken);
  symlinkSync(machine.home, join(machine.project, ".opencode"));
  const plugin = ["opencode", "--mode", "hook", "--scope", "project"];
  await refused(plugin, /link to .*outside of the project/, broken);
  assert.ok(!existsSync(join(machine.home, "plugin")));
});

test("asks on a terminal, and writes nothing without a yes or with --dry-run", async (t) => {
  const machine = new HostMachine(t);
  const answer = async (text: string) => {
    const { child, shows } = machine.sandbox.onTerminal(["setup", "codex"], {
      cwd: machine.project,
      env: { ...machine.env, PATH: process.env.PATH },
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.stdout?.on("data", () => {
      if (shows().includes("[y/N]")) child.stdin?.end(text);
    });
    await ended;
    return shows();
  };
  const file = join(machine.home, ".codex/config.toml");
  assert.match(await answer("n\n"), /\+\[mcp_servers\.sallyport\][\s\S]*Nothing was written/);
  assert.ok(!existsSync(file));
  const dry = await machine.run(["setup", "codex", "--dry-run"]);
  assert.match(dry.stdout, /^--- \/dev\/null\n\+\+\+ .*config\.toml\n@@ -0,0 \+1,8 @@\n\+\[mcp_servers\.sallyport\]\n/);
  assert.ok(!existsSync(file));
  assert.match(await answer("y\n"), /Codex is set up/);
  assert.ok(existsSync(file));
});

test("an agent's command cannot change the configuration of its host", async (t) => {
  const machine = new HostMachine(t);
  const { code, stderr } = await machine.run(["setup", "codex", "--yes"], { env: { SALLYPORT_SESSION: "s" } });
  assert.equal(code, 126);
  assert.match(stderr, /runs inside a Sallyport session/);
  assert.deepEqual(machine.files(machine.home), []);
});

test("prints the entry of any host, and explains wrong arguments", async (t) => {
  const machine = new HostMachine(t);
  const { stdout } = await machine.run(["setup", "--print", "my-host", "--tools", "shell", "--workspace", "/srv"]);
  const { command, args } = JSON.parse(stdout).mcpServers[ENTRY];
  assert.equal(command, process.execPath);
  assert.deepEqual(args.slice(0, 8), [SCRIPT, "mcp", "--agent", "my-host", "--tools", "shell", "--workspace", "/srv"]);
  const codex = await machine.run(["setup", "--print", "codex"]);
  assert.match(codex.stdout, /^\[mcp_servers\.sallyport\]\n/);
  const wrong: [args: string[], message: RegExp][] = [
    [["setup"], /no host given; use one of claude-code, codex/],
    [["setup", "gemni"], /unknown host `gemni`; did you mean `gemini`\?/],
    [["setup", "codex", "gemini"], /unexpected argument `gemini`/],
    [["setup", "codex", "--scope", "all"], /`--scope` must be one of user, project/],
    [["setup", "codex", "--mode", "magic"], /`--mode` must be one of/],
    [["setup", "codex", "--remove", "--check"], /cannot be combined/],
    [["setup", "codex", "--agent", "two words"], /not a valid agent name/],
  ];
  for (const [args, message] of wrong) {
    const { code, stderr } = await machine.run(args);
    assert.equal(code, 125);
    assert.match(stderr, message);
  }
  assert.deepEqual(machine.files(machine.home), []);
});
