import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Finding, Machine } from "../../../src/doctor/finding.ts";
import { applyFixes } from "../../../src/doctor/fix.ts";
import { CHECKS } from "../../../src/doctor/run-checks.ts";
import { keeperBinary } from "../../../src/executor/native/zygote.ts";

const SYSCTL = "proc/sys/kernel/apparmor_restrict_unprivileged_userns";
const PROFILE = "etc/apparmor.d/sallyport-keeper";
const { PATH } = process.env;

let machine: Machine & { root: string };

beforeEach(() => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-apparmor-")));
  machine = { state: join(root, "state"), root };
  for (const folder of ["proc/sys/kernel", "etc/apparmor.d", "bin"]) mkdirSync(join(root, folder), { recursive: true });
  process.env.PATH = `${join(root, "bin")}${delimiter}${PATH}`;
});

afterEach(() => {
  rmSync(machine.root, { recursive: true, force: true });
  process.env.PATH = PATH;
  delete process.env.SALLYPORT_KEEPER;
});

function restrict(value = "1"): void {
  writeFileSync(join(machine.root, SYSCTL), `${value}\n`);
}

/** Installs a parser that records what it loads. */
function installParser(script = ""): void {
  const log = join(machine.root, "loaded");
  const parser = join(machine.root, "bin/apparmor_parser");
  writeFileSync(parser, `#!/bin/sh\n${script}\ncat "$2" >> '${log}'; echo "$1" >> '${log}.options'\n`, { mode: 0o755 });
}

async function finding(): Promise<Finding> {
  const check = CHECKS.find(({ name }) => name === "checkAppArmor");
  assert.ok(check);
  return check(machine);
}

async function fix() {
  return applyFixes([await finding()], machine);
}

/** Uses a keeper with the given path below the machine's folder. */
function useKeeper(...path: string[]): string {
  const keeper = join(machine.root, ...path);
  mkdirSync(join(keeper, ".."), { recursive: true });
  copyFileSync(keeperBinary(), keeper);
  process.env.SALLYPORT_KEEPER = keeper;
  return keeper;
}

function attachment(profile: string): string {
  return /^profile sallyport-keeper "(.*)" flags=\(unconfined\) \{$/m.exec(profile)?.[1] ?? "";
}

test("there is nothing to fix where AppArmor is absent or does not restrict user namespaces", async () => {
  assert.equal((await finding()).status, "ok");
  restrict("0");
  assert.equal((await finding()).status, "ok");
  assert.deepEqual(await fix(), []);
  assert.deepEqual(readdirSync(join(machine.root, "etc/apparmor.d")), []);
});

test("the fix installs and loads a profile for the keeper, once", async () => {
  restrict();
  installParser();
  assert.equal((await finding()).status, "warn");
  const target = join(machine.root, PROFILE);
  assert.deepEqual(await fix(), [
    { name: "apparmor", done: `wrote ${target} and loaded it`, failure: null, manual: null },
  ]);
  const profile = readFileSync(target, "utf8");
  assert.match(profile, /^abi <abi\/4\.0>,\ninclude <tunables\/global>$/m);
  assert.match(profile, /^ {2}userns,$/m);
  assert.equal(readFileSync(join(machine.root, "loaded"), "utf8"), profile);
  assert.equal(readFileSync(join(machine.root, "loaded.options"), "utf8"), "-r\n");
  assert.equal((await finding()).status, "ok");
  assert.deepEqual(await fix(), [], "a second run changes nothing");
  assert.deepEqual(readdirSync(join(machine.root, "etc/apparmor.d")), ["sallyport-keeper"]);
});

test("the profile covers the keeper where it is built and where the package has it", async () => {
  restrict();
  installParser();
  await fix();
  const native = fileURLToPath(new URL("../../../native", import.meta.url));
  const found = attachment(readFileSync(join(machine.root, PROFILE), "utf8"));
  assert.match(found, /^\/\{.*\}$/);
  const paths = found.slice(2, -1).split(",");
  const folders = ["build", `prebuilt/${process.platform}-${process.arch}`];
  assert.deepEqual(
    paths.map((path) => `/${path}`),
    folders.map((folder) => join(realpathSync(native), folder, "keeper")),
  );
});

test("a profile for another keeper is replaced", async () => {
  restrict();
  installParser();
  await fix();
  useKeeper("elsewhere/keeper");
  assert.equal((await finding()).status, "warn");
  assert.equal((await fix())[0]?.failure, null);
  assert.equal(attachment(readFileSync(join(machine.root, PROFILE), "utf8")), join(machine.root, "elsewhere/keeper"));
});

test("escapes characters of the path that have a meaning in profiles, and resolves its links", async () => {
  restrict();
  installParser();
  const keeper = useKeeper("a b", '{x,y}*?[z]^"q"\\', "sallyport@1.0.0", "keeper");
  await fix();
  const expected = join(machine.root, "a b", '\\{x\\,y\\}\\*\\?\\[z\\]\\^\\"q\\"\\\\', "sallyport@1.0.0", "keeper");
  assert.equal(attachment(readFileSync(join(machine.root, PROFILE), "utf8")), expected);
  const link = join(machine.root, "link");
  symlinkSync(keeper, link);
  process.env.SALLYPORT_KEEPER = link;
  assert.equal((await finding()).status, "ok");
});

test("refuses a path with a line break, which could add rules to the profile", async () => {
  restrict();
  installParser();
  useKeeper('x"\n{ file, }', "keeper");
  await assert.rejects(finding, /contains control characters/);
  assert.equal(existsSync(join(machine.root, PROFILE)), false);
});

test("leaves no profile if it cannot be loaded, or if there is no parser", async () => {
  restrict();
  installParser("echo 'syntax error in the profile' >&2; exit 1");
  assert.match((await fix())[0]?.failure ?? "", /syntax error in the profile/);
  process.env.PATH = join(machine.root, "etc");
  if (!["/usr/sbin", "/sbin"].some((folder) => existsSync(join(folder, "apparmor_parser"))))
    assert.match((await fix())[0]?.failure ?? "", /`apparmor_parser` was not found/);
  assert.deepEqual(readdirSync(join(machine.root, "etc/apparmor.d")), []);
});

test("an ordinary user gets the command that installs the profile", async (t) => {
  restrict();
  installParser();
  const script = `
    import { applyFixes } from ${JSON.stringify(new URL("../../../src/doctor/fix.ts", import.meta.url))};
    const found = [{ name: "apparmor", status: "warn", message: "", fix: "" }];
    console.log(JSON.stringify(applyFixes(found, ${JSON.stringify(machine)})));
  `;
  chmodSync(machine.root, 0o755);
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (process.getuid?.() !== 0) chmodSync(join(machine.root, "etc/apparmor.d"), 0o555);
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    ...user,
    cwd: "/",
    encoding: "utf8",
  });
  if (/EACCES|ERR_MODULE_NOT_FOUND|permission denied/.test(stderr))
    return t.skip("the user cannot read the repository");
  const [{ done, failure, manual }] = JSON.parse(stdout);
  assert.deepEqual([done, failure], [null, null]);
  assert.match(manual, / \| sudo tee \/etc\/apparmor\.d\/sallyport-keeper > \/dev\/null && sudo apparmor_parser -r /);
  // Run the command with a `sudo` that writes below the machine's folder.
  const sudo = `#!/bin/sh\nif [ "$1" = tee ]; then cat > '${machine.root}'"$2"; else "$1" "$2" '${machine.root}'"$3"; fi\n`;
  writeFileSync(join(machine.root, "bin/sudo"), sudo, { mode: 0o755 });
  chmodSync(join(machine.root, "etc/apparmor.d"), 0o755);
  execFileSync("bash", ["-c", manual]);
  assert.equal((await finding()).status, "ok");
  assert.equal(readFileSync(join(machine.root, "loaded"), "utf8"), readFileSync(join(machine.root, PROFILE), "utf8"));
});
