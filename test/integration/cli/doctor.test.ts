import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Config } from "../../../src/config/schema.ts";
import type { Finding } from "../../../src/doctor/finding.ts";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { type Limits, limitedKeeper } from "../../fixtures/limited-keeper.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(() => box.remove());

async function examine(state: string): Promise<{ code: number | null; ok: boolean; findings: Finding[] }> {
  const { stdout, code } = await box.run(["doctor", "--json", "--state", state]);
  return { code, ...(JSON.parse(stdout) as { ok: boolean; findings: Finding[] }) };
}

function named(findings: Finding[], name: string): Finding {
  const found = findings.find((finding) => finding.name === name);
  assert.ok(found, `${name} was not checked`);
  return found;
}

test("every finding has a message, and a fix unless it is ok", async () => {
  const { code, ok, findings } = await examine(box.state);
  assert.equal(code, 0, JSON.stringify(findings));
  assert.equal(ok, true);
  for (const { name, status, message, fix } of findings) {
    assert.ok(message.length > 0, name);
    assert.equal(fix === null, status === "ok", name);
  }
  assert.equal(named(findings, "state folder").message, `${box.state}, created on first use`);
});

test("the checks change nothing", async () => {
  await examine(box.state);
  assert.equal(existsSync(box.state), false);
  assert.deepEqual(readdirSync(box.folder), []);
});

test("warns about a state folder that other users can access, and prints the fix", async () => {
  const state = join(box.folder, "open");
  mkdirSync(state);
  chmodSync(state, 0o755);
  const { code, ok, findings } = await examine(state);
  assert.deepEqual({ code, ok }, { code: 0, ok: true });
  assert.deepEqual(named(findings, "state folder"), {
    name: "state folder",
    status: "warn",
    message: `${state} is accessible to other users (mode 755)`,
    fix: `Run \`chmod 700 ${state}\`.`,
  });
});

test("--fix restricts access to the state folder and checks again", async () => {
  const state = join(box.folder, "to-be-closed");
  mkdirSync(state);
  chmodSync(state, 0o755);
  const { stdout, stderr, code } = await box.run(["doctor", "--fix", "--json", "--state", state]);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  assert.deepEqual([code, stderr], [0, `Fixed: state folder: set the mode of ${state} to 700\n`]);
  assert.equal(named(findings, "state folder").status, "ok");
  assert.equal(statSync(state).mode & 0o777, 0o700);
});

test("--fix does not change files that do not belong to Sallyport", async () => {
  const file = join(box.folder, "a-file");
  writeFileSync(file, "", { mode: 0o644 });
  const { stderr, code } = await box.run(["doctor", "--fix", "--state", file]);
  assert.deepEqual([code, stderr], [1, ""]);
  assert.equal(statSync(file).mode & 0o777, 0o644);
});

test("exits with 1 when a check fails", async () => {
  const file = join(box.folder, "file");
  writeFileSync(file, "");
  const { code, ok, findings } = await examine(file);
  assert.deepEqual(
    { code, ok, status: named(findings, "state folder").status },
    { code: 1, ok: false, status: "fail" },
  );

  const { stdout } = await box.run(["doctor", "--json"], { env: { SALLYPORT_KEEPER: join(box.folder, "none") } });
  const broken = (JSON.parse(stdout) as { findings: Finding[] }).findings;
  assert.equal(named(broken, "keeper").status, "fail");
  assert.equal(named(broken, "test command").status, "fail");
});

test("prints one line per finding, tab-separated in a pipe, with the fix below on a terminal", async () => {
  const state = join(box.folder, "open");
  const piped = await box.run(["doctor", "--state", state]);
  const [status, name, , fix] =
    piped.stdout
      .split("\n")
      .find((line) => line.startsWith("warn\tstate"))
      ?.split("\t") ?? [];
  assert.deepEqual([status, name, fix], ["warn", "state folder", `Run \`chmod 700 ${state}\`.`]);

  const shown = await box.terminal(["doctor", "--state", state], { env: { NO_COLOR: "1" } });
  assert.match(shown.stdout, /^warn {2}state folder {3}[\s\S]*?\n {21}Run `chmod 700 /m);
  const colored = await box.terminal(["doctor", "--state", state]);
  assert.ok(colored.stdout.includes("\x1b[33mwarn"));
});

/** Returns the findings about the sandbox on a machine that lacks some features, and the exit code. */
async function sandboxOf(
  limits: Limits,
  config: Config = {},
): Promise<{ found: Finding; level: Finding; code: number | null }> {
  const folder = join(box.folder, `machine-${machines++}`);
  mkdirSync(join(folder, "sallyport"), { recursive: true });
  writeFileSync(join(folder, "sallyport/sallyport.json"), JSON.stringify(config));
  const env = { SALLYPORT_KEEPER: limitedKeeper(limits), XDG_CONFIG_HOME: folder };
  const { stdout, code } = await box.run(["doctor", "--json", "--state", join(folder, "state")], { env });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return { found: named(findings, "sandbox"), level: named(findings, "sandbox level"), code };
}
let machines = 0;

const { unsupported } = sandboxCapabilities();
const lacking = unsupported.shared.on.length > 0 || unsupported.isolated.ports.length > 0;
const skip = lacking && "needs a machine that enforces the whole sandbox";

test("reports the mechanisms of the sandbox and the level of each profile", { skip }, async () => {
  const { found, level, code } = await sandboxOf({});
  assert.deepEqual([found.status, level.status, code], ["ok", "ok", 0]);
  assert.match(
    found.message,
    /^Landlock ABI \d+, mount namespaces.*, PID namespaces, network namespaces, seccomp, socket broker$/,
  );
  assert.equal(level.message, "full: workspace-write, read-only, isolated");
});

test("names the missing mechanisms, what is not enforced without them, and how to get them", { skip }, async () => {
  const bare = await sandboxOf({ namespaces: false });
  assert.deepEqual([bare.found.status, bare.level.status, bare.code], ["warn", "warn", 0]);
  assert.match(bare.found.message, /missing: mount namespaces, PID namespaces, network namespaces$/);
  assert.match(bare.found.fix ?? "", /^Namespaces: /);
  assert.match(bare.level.message, /^partial: .*Not enforced for workspace-write: protected paths/);
  const old = await sandboxOf({ landlock: 3 }, { network: { ports: [443] } });
  assert.match(old.found.fix ?? "", /Linux 6\.12/);
  assert.match(old.level.message, /the list of TCP ports/);
  const unfiltered = await sandboxOf({ seccomp: false });
  assert.match(unfiltered.found.fix ?? "", /CONFIG_SECCOMP_FILTER/);
  const unbrokered = await sandboxOf({ broker: false });
  assert.deepEqual([unbrokered.found.status, unbrokered.level.status], ["warn", "ok"]);
  assert.match(unbrokered.found.message, /missing: socket broker$/);
  assert.match(unbrokered.found.fix ?? "", /^Socket broker: /);
  assert.match((await sandboxOf({ landlock: 0 })).found.fix ?? "", /^Landlock: /);
});

test("fails where nothing confines commands, unless the operator allows that", { skip }, async () => {
  const nothing = { landlock: 0, namespaces: false };
  const { found, level, code } = await sandboxOf(nothing);
  assert.deepEqual([found.status, level.status, code], ["fail", "fail", 1]);
  assert.match(found.fix ?? "", /"require": false` or `"sandbox": "off"/);
  const allowed = await sandboxOf(nothing, { require: false });
  assert.deepEqual([allowed.found.status, allowed.level.status, allowed.code], ["warn", "warn", 0]);
  const off = await sandboxOf(nothing, { sandbox: "off" });
  assert.deepEqual([off.found.status, off.level.status, off.code], ["warn", "ok", 0]);
});

test("fails if the configuration requires more than the machine enforces", { skip }, async () => {
  const { level, code } = await sandboxOf({ namespaces: false }, { require: true });
  assert.deepEqual([level.status, code], ["fail", 1]);
  assert.match(level.message, /commands do not run$/);
});

test("fails with the portable executor, which confines nothing", async () => {
  const { stdout, code } = await box.run(["doctor", "--json"], { env: { SALLYPORT_EXECUTOR: "portable" } });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  assert.deepEqual([named(findings, "sandbox").status, code], ["fail", 1]);
});

test("warns when commands run as root", { skip: process.getuid?.() !== 0 && "needs root" }, async () => {
  const config = join(box.folder, "config", "sallyport");
  mkdirSync(config, { recursive: true });
  const env = { XDG_CONFIG_HOME: join(box.folder, "config") };
  const look = async () => {
    const { stdout } = await box.run(["doctor", "--json"], { env });
    return named((JSON.parse(stdout) as { findings: Finding[] }).findings, "run as");
  };
  assert.equal((await look()).status, "warn");
  writeFileSync(join(config, "sallyport.json"), JSON.stringify({ user: "nobody" }));
  const { status, message } = await look();
  assert.deepEqual([status, /^nobody \(uid \d+\)$/.test(message)], ["ok", true], message);
});

test("warnings of commands that refer to the doctor agree with what it reports", { skip }, async () => {
  const home = join(box.folder, "home");
  mkdirSync(home);
  const places: [name: string, env: NodeJS.ProcessEnv, cwd: string][] = [
    ["the home directory", { HOME: home }, home],
    ["a project", {}, box.folder],
    ["without namespaces", { SALLYPORT_KEEPER: limitedKeeper({ namespaces: false }) }, box.folder],
    ["with an old Landlock", { SALLYPORT_KEEPER: limitedKeeper({ namespaces: false, landlock: 3 }) }, box.folder],
  ];
  for (const [name, more, cwd] of places) {
    const env = { ...more, SALLYPORT_STATE: join(box.folder, `agree-${machines++}`) };
    const { stderr } = await box.run(["run", "--", "true"], { cwd, env });
    const { stdout } = await box.run(["doctor", "--json"], { cwd, env });
    const level = named((JSON.parse(stdout) as { findings: Finding[] }).findings, "sandbox level");
    const [, gaps] = /sandbox: not fully enforced on this machine: (.*)/.exec(stderr) ?? [];
    assert.equal(level.status, gaps === undefined ? "ok" : "warn", `${name}: ${stderr}${level.message}`);
    for (const gap of gaps?.split("; ") ?? []) assert.ok(level.message.includes(gap), `${name}: ${gap}`);
    assert.equal(/See `sallyport doctor`/.test(stderr), gaps !== undefined, stderr);
    if (cwd !== home) continue;
    assert.match(gaps ?? "", /a denied path in a writable folder that does not exist yet/);
    assert.match(level.fix ?? "", /^Run commands in a project folder.*\.ssh/);
  }
});
