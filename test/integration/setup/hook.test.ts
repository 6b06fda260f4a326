import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { findHost } from "../../../src/setup/hosts/index.ts";
import { quoteWord } from "../../../src/shell/quote.ts";
import { HostMachine } from "../../fixtures/host-machine.ts";
import { ENTRY } from "../../fixtures/sallyport.ts";

const ENV = { PATH: "/usr/bin:/bin" };
const DENIAL = /"(?:permissionDecision|decision|permission)":"deny"|"cancel":true/;
const FILES: Readonly<Record<string, string>> = {
  "claude-code": ".claude/settings.json",
  codex: ".codex/hooks.json",
  gemini: ".gemini/settings.json",
  opencode: ".config/opencode/plugin/sallyport.js",
  copilot: ".copilot/hooks/sallyport.json",
  cline: ".cline/hooks/PreToolUse",
  cursor: ".cursor/hooks.json",
};

/** Returns how a host runs the hook that is in a file. */
function commandIn(file: string): string {
  const text = readFileSync(file, "utf8");
  if (text.startsWith("#!")) return quoteWord(file);
  const found = [...text.matchAll(/"(?:command|bash)": ("(?:[^"\\]|\\.)*")/g)].at(-1);
  return JSON.parse(found?.[1] ?? '""');
}

/** Calls the hook of a plugin for opencode. Returns the reason for which it does not run the command. */
async function callPlugin(file: string): Promise<string> {
  const { Sallyport } = await import(`data:text/javascript,${encodeURIComponent(readFileSync(file, "utf8"))}`);
  const hooks = await Sallyport({ directory: "/" });
  const call = hooks["tool.execute.before"]({ tool: "bash" }, { args: { command: "touch /tmp/never" } });
  return call.then(
    () => assert.fail("the command would run"),
    (error: Error) => error.message,
  );
}

test("setup --mode hook adds a hook that denies when it fails, and restores the file", async (t) => {
  const machine = new HostMachine(t);
  const own = '{\n  "hooks": { "PreToolUse": [{ "matcher": "Edit", "hooks": [] }] } // mine\n}\n';
  const settings = machine.write(".claude/settings.json", own);
  for (const [host, path] of Object.entries(FILES)) {
    const file = join(machine.home, path);
    assert.equal((await machine.setup(host, "--mode", "hook")).outcome, "set up");
    assert.equal((await machine.setup(host, "--mode", "hook")).outcome, "already set up");
    const text = readFileSync(file, "utf8");
    const missing = text.replaceAll(process.execPath, "/removed/node");
    if (host === "opencode") {
      assert.match(await callPlugin(file), /the event has no text in `sessionID`/);
      writeFileSync(file, missing);
      assert.match(await callPlugin(file), /Sallyport could not check this command/);
    } else {
      const run = () => spawnSync("sh", ["-c", commandIn(file)], { input: "{}", encoding: "utf8", env: ENV });
      const denied = run();
      assert.equal(denied.status, 0, denied.stderr);
      assert.match(denied.stdout, DENIAL);
      writeFileSync(file, missing);
      const failed = run();
      assert.ok(failed.status === 2 || DENIAL.test(failed.stdout), `${host}: ${failed.stdout}${failed.stderr}`);
      assert.match(`${failed.stdout}${failed.stderr}`, /Sallyport could not check this command/);
    }
    writeFileSync(file, text);
  }
  const { code, hosts } = await machine.check();
  assert.equal(code, 0, JSON.stringify(hosts));
  for (const { host, status, connections, waysAround } of hosts) {
    const { remains } = findHost(host)?.hook ?? {};
    const expected = [host, "connected", "hook", remains ? [remains] : []];
    assert.deepEqual([host, status, connections[0].mode, waysAround], expected);
  }
  assert.equal(hosts.length, Object.keys(FILES).length);
  for (const host of Object.keys(FILES)) assert.equal((await machine.setup(host, "--remove")).outcome, "removed");
  assert.equal(readFileSync(settings, "utf8"), own);
  assert.deepEqual(machine.files(machine.home), [settings]);
});

test("a script of the user is not replaced, and an edited one is not deleted", async (t) => {
  const machine = new HostMachine(t);
  const refused = async (message: RegExp, ...args: string[]) => {
    const { code, stderr } = await machine.run(["setup", "cline", ...args]);
    assert.equal(code, 125);
    assert.match(stderr, message);
  };
  const file = machine.write(".cline/hooks/PreToolUse", "#!/bin/sh\necho mine\n");
  await refused(/PreToolUse: the file exists, and `sallyport setup` did not write it\./, "--mode", "hook");
  assert.equal(readFileSync(file, "utf8"), "#!/bin/sh\necho mine\n");
  rmSync(file);
  await machine.setup("cline", "--mode", "hook");
  assert.equal(statSync(file).mode & 0o777, 0o700);
  const written = readFileSync(file, "utf8");
  writeFileSync(file, `${written}# mine\n`);
  await refused(/PreToolUse: the file was edited after `sallyport setup` wrote it\./, "--remove");
  assert.match((await machine.check()).hosts[0].waysAround[0], /lets a command run when the hook fails/);
  writeFileSync(file, written);
  chmodSync(file, 0o600);
  assert.match((await machine.check()).hosts[0].connections[0].message, /the file is not executable/);
  rmSync(file);
  const gone = (await machine.check()).hosts[0];
  assert.equal(gone.status, "broken");
  assert.match(gone.problems[0], /what `sallyport setup cline --mode hook` wrote is no longer in .*PreToolUse/);
  await machine.setup("cline", "--remove");
  assert.deepEqual((await machine.check()).hosts, []);
});

test("setup --check reports what turns off a hook, also in a project (invariant 7)", async (t) => {
  const machine = new HostMachine(t);
  for (const host of ["claude-code", "gemini", "cursor"]) await machine.setup(host, "--mode", "hook");
  const write = (path: string, value: object) => {
    mkdirSync(dirname(join(machine.project, path)), { recursive: true });
    writeFileSync(join(machine.project, path), JSON.stringify(value));
  };
  write(".claude/settings.local.json", { disableAllHooks: true, env: { EDITOR: "vi", NODE_OPTIONS: "--require=./x" } });
  write(".gemini/settings.json", { hooksConfig: { disabled: ["other", "sallyport"] } });
  const cursor = join(machine.home, FILES.cursor ?? "");
  writeFileSync(cursor, readFileSync(cursor, "utf8").replace('"failClosed": true', '"failClosed": false'));
  const { hosts } = await machine.check();
  const around = Object.fromEntries(
    hosts.map(({ host, waysAround }: { host: string; waysAround: string[] }) => [host, waysAround.join("\n")]),
  );
  assert.match(around["claude-code"], /its hooks are turned off in .*project\/\.claude\/settings\.local\.json:1/);
  assert.match(around["claude-code"], /the project sets the variable NODE_OPTIONS in .*settings\.local\.json:1/);
  assert.doesNotMatch(around["claude-code"], /EDITOR/);
  assert.match(around.gemini, /its hooks are turned off in .*project\/\.gemini\/settings\.json:1/);
  assert.match(around.cursor, /lets a command run when the hook fails/);
  writeFileSync(cursor, readFileSync(cursor, "utf8").replace('"matcher": "Shell"', '"matcher": "Read"'));
  assert.match((await machine.check("cursor")).hosts[0].waysAround.join("\n"), /does not cover all tools/);
  // A hook of the project with a variable that would change what the check runs.
  const started = join(machine.project, "started");
  const evil = join(machine.project, "evil.cjs");
  writeFileSync(evil, `require("node:fs").writeFileSync(${JSON.stringify(started)}, "")`);
  const command = `NODE_OPTIONS=--require=${evil} ${process.execPath} ${ENTRY} hook cursor`;
  write(".cursor/hooks.json", { version: 1, hooks: { preToolUse: [{ command, matcher: "Shell", failClosed: true }] } });
  const project = (await machine.check("cursor")).hosts[0].connections.find(
    ({ scope }: { scope: string }) => scope === "project",
  );
  assert.match(project.message, /sets the variable NODE_OPTIONS/);
  assert.ok(!existsSync(started));
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
  const file = join(machine.home, ".gemini/settings.json");
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
  assert.match(stderr, /Zed cannot be set up with `--mode hook`: .*; use `--mode mcp`/);
});
