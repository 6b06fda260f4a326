import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Finding } from "../../../src/doctor/finding.ts";
import { keeperBinary } from "../../../src/executor/native/zygote.ts";
import { CAPABILITIES } from "../../fixtures/capabilities.ts";
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
  assert.deepEqual([code, stderr], [0, "Fixed: state folder\n"]);
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

/** Returns the finding for a keeper that reports these capabilities. */
async function sandboxFinding(capabilities: object): Promise<Finding> {
  const keeper = join(box.folder, `keeper-${keepers++}`);
  const answer = `if [ "$1" = probe ]; then echo '${JSON.stringify(capabilities)}'; exit; fi`;
  writeFileSync(keeper, `#!/bin/sh\n${answer}\nexec '${keeperBinary()}' "$@"\n`, { mode: 0o755 });
  const { stdout } = await box.run(["doctor", "--json"], { env: { SALLYPORT_KEEPER: keeper } });
  return named((JSON.parse(stdout) as { findings: Finding[] }).findings, "sandbox");
}
let keepers = 0;

test("reports sandbox features the kernel does not support, and how to get them", async () => {
  const whole = { ...CAPABILITIES, mounts: "user" };
  assert.deepEqual(await sandboxFinding(whole), {
    name: "sandbox",
    status: "ok",
    message: "complete: Landlock ABI 7, mounts through user namespaces, seccomp, isolation, network namespaces",
    fix: null,
  });
  const lesser = [
    { ...whole, landlock: 0, mounts: "none" },
    { ...whole, landlock: 0 },
    { ...whole, mounts: "none" },
    { ...whole, landlock: 5 },
    { ...whole, seccomp: false },
    { ...whole, isolation: false },
    { ...whole, networkNamespace: false },
  ];
  const found: Finding[] = [];
  for (const capabilities of lesser) found.push(await sandboxFinding(capabilities));
  assert.deepEqual(
    found.map(({ status, fix }) => [status, fix !== null]),
    lesser.map(() => ["warn", true]),
  );
  assert.equal(new Set(found.map(({ message }) => message)).size, lesser.length);
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
