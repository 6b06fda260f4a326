import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { HostMachine } from "../../fixtures/host-machine.ts";
import { ENTRY } from "../../fixtures/sallyport.ts";

const FILES = { "claude-code": ".claude/settings.json", codex: ".codex/hooks.json", gemini: ".gemini/settings.json" };

/** Returns the command of the last hook in a file. */
function commandIn(file: string): string {
  const found = [...readFileSync(file, "utf8").matchAll(/"command": ("(?:[^"\\]|\\.)*")/g)].at(-1);
  return JSON.parse(found?.[1] ?? '""');
}

test("setup --mode hook adds a hook that denies when it fails, and restores the file", async (t) => {
  const machine = new HostMachine(t);
  const own = '{\n  "hooks": { "PreToolUse": [{ "matcher": "Edit", "hooks": [] }] } // mine\n}\n';
  const settings = machine.write(FILES["claude-code"], own);
  for (const [host, path] of Object.entries(FILES)) {
    assert.equal((await machine.setup(host, "--mode", "hook")).outcome, "set up");
    assert.equal((await machine.setup(host, "--mode", "hook")).outcome, "already set up");
    const command = commandIn(join(machine.home, path));
    assert.ok(command.includes(`${ENTRY} hook ${host} --agent ${host}`), command);
    // An event that is not understood, and a program that does not exist.
    const env = { PATH: "/usr/bin:/bin" };
    const run = (text: string) => spawnSync("sh", ["-c", text], { input: "{}", encoding: "utf8", env });
    const denied = run(command);
    assert.equal(denied.status, 0);
    assert.match(denied.stdout, /"(?:permissionDecision|decision)":"deny"/);
    const missing = run(command.replace(process.execPath, "/removed/node"));
    assert.equal(missing.status, 2);
    assert.match(missing.stderr, /Sallyport could not check this command/);
  }
  const { code, hosts } = await machine.check();
  assert.equal(code, 0);
  for (const { host, status, connections, waysAround } of hosts) {
    const remains = host === "codex" ? ["Codex skips the hook until you trust it"] : [];
    assert.deepEqual([host, status, connections[0].mode, waysAround], [host, "connected", "hook", remains]);
  }
  assert.equal(hosts.length, 3);
  for (const host of Object.keys(FILES)) assert.equal((await machine.setup(host, "--remove")).outcome, "removed");
  assert.equal(readFileSync(settings, "utf8"), own);
  assert.deepEqual(machine.files(machine.home), [settings]);
});

test("setting up another mode takes back the first", async (t) => {
  const machine = new HostMachine(t);
  const config = join(machine.home, ".codex/config.toml");
  const hooks = join(machine.home, ".codex/hooks.json");
  await machine.setup("codex");
  await machine.setup("codex", "--mode", "hook");
  assert.deepEqual([existsSync(config), existsSync(hooks)], [false, true]);
  await machine.setup("codex");
  assert.deepEqual([existsSync(config), existsSync(hooks)], [true, false]);
  await machine.setup("codex", "--remove");
  assert.deepEqual(machine.files(machine.home), []);
});

test("setup --check reports a hook that fails open or whose program is missing", async (t) => {
  const machine = new HostMachine(t);
  await machine.setup("gemini", "--mode", "hook");
  const file = join(machine.home, FILES.gemini);
  const settings = JSON.parse(readFileSync(file, "utf8"));
  const [{ hooks }] = settings.hooks.BeforeTool;
  const [command] = hooks[0].command.split(" || ");
  const check = async (text: string) => {
    hooks[0].command = text;
    writeFileSync(file, JSON.stringify(settings));
    const { code, hosts } = await machine.check();
    return { code, ...hosts[0] };
  };
  const open = await check(command);
  assert.equal(open.status, "connected");
  assert.match(open.waysAround[0], /lets a command run when the hook fails; run `sallyport setup gemini --mode hook`/);
  const missing = await check(command.replace(process.execPath, "/removed/node"));
  assert.deepEqual([missing.code, missing.status], [1, "broken"]);
  assert.match(missing.connections[0].message, /\/removed\/node is not an existing program/);
  const { code, stderr } = await machine.run(["setup", "zed", "--mode", "hook"]);
  assert.equal(code, 125);
  assert.match(stderr, /Zed cannot be set up with `--mode hook`; use mcp/);
});
