import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { NATIVE } from "../../fixtures/keeper-build.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-native-"));
cpSync(NATIVE, join(folder, "native"), { recursive: true, filter: (path) => !/\/(pre)?buil[dt]/.test(path) });
cpSync(join(NATIVE, "../package.json"), join(folder, "package.json"));
after(() => rmSync(folder, { recursive: true }));

function install(args: string[], env: NodeJS.ProcessEnv = {}) {
  const script = join(folder, "native", "install.js");
  return spawnSync(process.execPath, [script, ...args], { encoding: "utf8", env: { ...process.env, ...env } });
}

test("the keeper builds without warnings", () => {
  const { status, stdout, stderr } = install(["--strict"]);
  assert.deepEqual([status, stdout, stderr], [0, "", ""]);
  const keeper = join(folder, "native", "build", "keeper");
  const id = readFileSync(`${keeper}.id`, "utf8");
  assert.match(id, /^[0-9a-f]{12}$/);
  assert.equal(execFileSync(keeper, ["--version"], { encoding: "utf8" }), `keeper ${id} protocol 1\n`);
});

test("the same sources give the same build id", () => {
  const before = readFileSync(join(folder, "native", "build", "keeper.id"), "utf8");
  assert.equal(install([]).status, 0);
  assert.equal(readFileSync(join(folder, "native", "build", "keeper.id"), "utf8"), before);
});

test("the keeper prints its usage for unknown arguments", () => {
  const keeper = join(folder, "native", "build", "keeper");
  for (const args of [[], ["serve"], ["dance"]]) {
    const { status, stderr } = spawnSync(keeper, args, { encoding: "utf8" });
    assert.equal(status, 2);
    assert.match(stderr, /^usage: keeper/);
  }
  const { status, stderr } = spawnSync(keeper, ["serve", "/no/such/state"], { encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /No such file or directory/);
});

test("without a compiler the install succeeds with a note, and fails with --strict", () => {
  rmSync(join(folder, "native", "build"), { recursive: true });
  const { status, stdout } = install([], { CC: "/no/such/compiler" });
  assert.equal(status, 0);
  assert.match(stdout, /no C compiler found/);
  assert.ok(!existsSync(join(folder, "native", "build", "keeper.id")));
  assert.equal(install(["--strict"], { CC: "/no/such/compiler" }).status, 1);
});

test("installs the prebuilt keeper of the same sources without a compiler", (t) => {
  if (process.platform !== "linux" || process.arch !== "x64") return t.skip("the prebuilt keeper is for linux-x64");
  const none = { CC: "/no/such/compiler" };
  const built = join(folder, "native", "build");
  rmSync(built, { recursive: true, force: true });
  assert.equal(install(["--prebuilt"], none).status, 1, "a package was built without a prebuilt keeper");
  assert.equal(install(["--prebuilt"]).status, 0);
  const { status, stdout } = install([], none);
  assert.deepEqual([status, stdout, existsSync(join(built, "keeper"))], [0, "", true]);
  rmSync(built, { recursive: true });
  appendFileSync(join(folder, "native", "process", "title.c"), "\n");
  assert.match(install([], none).stdout, /no C compiler found/);
  rmSync(join(folder, "native", "prebuilt"), { recursive: true });
});

test("compile_commands.json lists every C file with flags that compile it", () => {
  assert.equal(install(["--compile-commands"]).status, 0);
  const path = join(folder, "native", "build", "compile_commands.json");
  const commands = JSON.parse(readFileSync(path, "utf8")) as { directory: string; file: string; arguments: string[] }[];
  const files = globSync("**/*.c", { cwd: join(folder, "native") });
  assert.deepEqual(commands.map(({ file }) => file).sort(), files.sort());
  const command = commands.find(({ file }) => file === "process/launch.c");
  assert.ok(command);
  const [compiler = "", ...args] = command.arguments;
  execFileSync(compiler, [...args, "-fsyntax-only"], { cwd: command.directory, stdio: "pipe" });
});
