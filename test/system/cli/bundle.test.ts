import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { install } from "../../fixtures/installed.ts";

const ROOT = join(import.meta.dirname, "../../..");
let fixture: string;

before(() => {
  fixture = mkdtempSync(join(tmpdir(), "sallyport-bundle-"));
  mkdirSync(join(fixture, "work"));
  install(join(fixture, "package"));
});
after(() => {
  rmSync(fixture, { recursive: true, force: true });
});

function sallyport(...args: string[]) {
  return sallyportWith("", ...args);
}

function sallyportWith(input: string, ...args: string[]) {
  const program = join(fixture, "package/bin/sallyport.js");
  const env = { PATH: process.env.PATH, HOME: fixture, SALLYPORT_STATE: join(fixture, "state") };
  return spawnSync(process.execPath, [program, ...args], { cwd: join(fixture, "work"), env, encoding: "utf8", input });
}

test("the bundle prints its version and includes the licenses of its packages", () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  assert.equal(sallyport("--version").stdout, `${version}\n`);
  assert.match(
    readFileSync(join(fixture, "package/dist/cli/LICENSES.txt"), "utf8"),
    /^zod\n.*MIT[\s\S]*^unbash\n[\s\S]*^jsonc-parser\n.*MIT[\s\S]*^hono\n.*MIT/ms,
  );
});

test("checks commands and finds the schema in the package", () => {
  const checked = sallyport("check", "--json", "rm -rf /");
  assert.equal(JSON.parse(checked.stdout).verdict, "blocked", checked.stderr);
  const shown = sallyport("init", "--print");
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stdout, /"\$schema": ".*package\/schema\/sallyport\.schema\.json"/);
});

test("runs a command with the keeper of the package", () => {
  const { stdout, stderr, status } = sallyport("run", "--", "echo", "hello");
  assert.deepEqual([stdout, status], ["hello\n", 0], stderr);
});

test("doctor reports no failures", () => {
  const { stdout, stderr } = sallyport("doctor", "--json");
  const { findings } = JSON.parse(stdout) as { findings: { name: string; status: string }[] };
  const failed = findings.filter(({ status }) => status === "fail");
  assert.deepEqual(failed, [], stderr);
  assert.equal(findings.find(({ name }) => name === "keeper")?.status, "ok");
});

/** Returns the cache file of the core script. */
function compiled() {
  const [path = "", ...others] = globSync(join(fixture, "state/compiled/*/core-*.script.js.run.compiled"));
  assert.deepEqual([path === "", others], [false, []]);
  const { ino, size, mode } = statSync(path);
  return { path, ino, size, mode: mode & 0o777 };
}

test("compiled code is cached once, and again when the cache is truncated or the script has changed", () => {
  const hello = () => {
    const { stdout, stderr, status } = sallyport("run", "--", "echo", "hello");
    assert.deepEqual([stdout, stderr, status], ["hello\n", "", 0]);
    return compiled();
  };
  hello();
  const kept = hello();
  assert.equal(kept.mode, 0o600);
  assert.deepEqual(hello(), kept);

  truncateSync(kept.path, kept.size - 1);
  const again = hello();
  assert.notEqual(again.ino, kept.ino);

  truncateSync(kept.path, 0);
  hello();
  const [script = ""] = globSync(join(fixture, "package/dist/cli/core-*.script.js"));
  const before = compiled();
  utimesSync(script, 1, 1);
  assert.notEqual(hello().ino, before.ino);
  assert.deepEqual(
    globSync(join(fixture, "state/compiled/*/core-*")).map((path) => path === kept.path),
    [true],
  );
});

test("a server has a cache of its own", () => {
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  };
  const { stdout, stderr, status } = sallyportWith(`${JSON.stringify(initialize)}\n`, "mcp");
  assert.deepEqual([JSON.parse(stdout).id, status], [1, 0], stderr);
  const kept = globSync(join(fixture, "state/compiled/*/*.mcp.compiled")).map((path) => basename(path).split("-")[0]);
  // No command ran, so the code that runs commands is incomplete and is not saved.
  assert.deepEqual(kept, ["mcp"]);
});

test("a command that fails does not write the cache", () => {
  rmSync(join(fixture, "state/compiled"), { recursive: true, force: true });
  assert.equal(sallyport("run", "--", "false").status, 1);
  assert.equal(sallyport("ps").status, 0);
  assert.deepEqual(globSync(join(fixture, "state/compiled/*/core-*")), []);
});

test("a plain command loads only the core script, and others load the rest", () => {
  rmSync(join(fixture, "state/compiled"), { recursive: true, force: true });
  const kept = () =>
    globSync(join(fixture, "state/compiled/*/*.script.js.run.compiled")).map((path) => basename(path).split("-")[0]);
  for (let n = 0; n < 2; n++) assert.equal(sallyport("run", "--", "echo", "hello").stdout, "hello\n");
  // A program that has no model in src/shell/commands.
  assert.equal(sallyport("run", "--", "uptime", "--since").status, 0);
  assert.deepEqual(kept(), ["core"]);
  assert.equal(sallyport("run", "-c", "for n in 1 2; do echo $n; done | tail -1").stdout, "2\n");
  assert.deepEqual(kept().sort(), ["cold", "core"]);
  const wrong = sallyport("run", "--name", "a b", "--", "true");
  assert.match(wrong.stderr, /`name` must be 1 to 63 letters/);
  assert.equal(sallyport("run", "--", "no-such-program-at-all").status, 127);
  assert.equal(sallyport("run", "-c", "rm -rf /").status, 126);
});

test("doctor --fix builds a missing keeper", () => {
  const native = join(fixture, "package/native");
  rmSync(native);
  cpSync(join(ROOT, "native"), native, { recursive: true, filter: (path) => !/\/(build|prebuilt)$/.test(path) });
  const { stdout, stderr } = sallyport("doctor", "--fix", "--json");
  assert.match(stderr, /^Fixed: keeper: built the keeper$/m);
  const { findings } = JSON.parse(stdout) as { findings: { name: string; status: string }[] };
  assert.equal(findings.find(({ name }) => name === "keeper")?.status, "ok", stdout);
});
