import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

const ROOT = join(import.meta.dirname, "../../..");
let house: string;

/** As it is installed: no sources, the command line in a few files. */
before(() => {
  house = mkdtempSync(join(tmpdir(), "sallyport-bundle-"));
  mkdirSync(join(house, "package/bin"), { recursive: true });
  mkdirSync(join(house, "work"));
  for (const file of ["package.json", "bin/sallyport.js"]) copyFileSync(join(ROOT, file), join(house, "package", file));
  for (const name of ["native", "schema", "node_modules"]) symlinkSync(join(ROOT, name), join(house, "package", name));
  execFileSync(process.execPath, [join(ROOT, "scripts/bundle.ts"), join(house, "package/dist/cli")]);
});
after(() => {
  rmSync(house, { recursive: true, force: true });
});

function sallyport(...args: string[]) {
  const program = join(house, "package/bin/sallyport.js");
  const env = { PATH: process.env.PATH, HOME: house, SALLYPORT_STATE: join(house, "state") };
  return spawnSync(process.execPath, [program, ...args], { cwd: join(house, "work"), env, encoding: "utf8" });
}

test("the bundled command line knows its version, and which packages' licences it carries", () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  assert.equal(sallyport("--version").stdout, `${version}\n`);
  assert.match(readFileSync(join(house, "package/dist/cli/LICENSES.txt"), "utf8"), /^zod\n.*MIT[\s\S]*^unbash\n/ms);
});

test("it judges commands, and finds what lies beside it in the package", () => {
  const judged = sallyport("check", "--json", "rm -rf /");
  assert.equal(JSON.parse(judged.stdout).verdict, "blocked", judged.stderr);
  const shown = sallyport("init", "--print");
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stdout, /"\$schema": ".*package\/schema\/sallyport\.schema\.json"/);
});

test("it finds the keeper of its package, and runs a command under it", () => {
  const { stdout, stderr, status } = sallyport("run", "--", "echo", "hello");
  assert.deepEqual([stdout, status], ["hello\n", 0], stderr);
});
