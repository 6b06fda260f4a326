import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { type Limits, limitedKeeper } from "../../fixtures/limited-keeper.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-advice-"));
chmodSync(folder, 0o755);
after(() => rmSync(folder, { recursive: true }));
let machines = 0;

const SCRIPT = `
  import { CHECKS } from ${JSON.stringify(new URL("../../../src/doctor/run-checks.ts", import.meta.url))};
  const check = CHECKS.find(({ name }) => name === "checkSandbox");
  console.log(JSON.stringify(await check({ state: "/nonexistent", root: process.argv[1] })));
`;

const IS_ROOT = process.getuid?.() === 0;

/**
 * Returns the fix for an ordinary user, or for the current one, on a machine with the given files. Null if that user
 * cannot run the check.
 */
function advice(limits: Limits, files: Record<string, string>, ordinary = true): string | null {
  const root = join(folder, String(machines++));
  for (const [path, text] of Object.entries({ "proc/self/ns/user": "", ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const user = ordinary && IS_ROOT ? { uid: 65_534, gid: 65_534 } : {};
  const env = { PATH: process.env.PATH, SALLYPORT_KEEPER: limitedKeeper(limits), XDG_CONFIG_HOME: root };
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", SCRIPT, root], {
    ...user,
    env,
    cwd: "/",
    encoding: "utf8",
  });
  return stdout === "" ? null : (JSON.parse(stdout) as { fix: string }).fix;
}

const CASES: { what: string; limits: Limits; files: Record<string, string>; wanted: RegExp }[] = [
  {
    what: "AppArmor on Ubuntu",
    limits: { namespaces: false },
    files: { "proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n" },
    wanted: /AppArmor forbids them; `sallyport doctor --fix`/,
  },
  {
    what: "kernel.unprivileged_userns_clone on Debian",
    limits: { namespaces: false },
    files: { "proc/sys/kernel/unprivileged_userns_clone": "0\n" },
    wanted: /`sudo sysctl -w kernel\.unprivileged_userns_clone=1`/,
  },
  {
    what: "user.max_user_namespaces",
    limits: { namespaces: false },
    files: { "proc/sys/user/max_user_namespaces": "0\n" },
    wanted: /`sudo sysctl -w user\.max_user_namespaces=15000`/,
  },
  {
    what: "a Docker container",
    limits: { namespaces: false },
    files: { ".dockerenv": "" },
    wanted: /--security-opt seccomp=unconfined --security-opt apparmor=unconfined/,
  },
  {
    what: "a kernel that was booted without Landlock",
    limits: { landlock: 0 },
    files: { "sys/kernel/security/lsm": "lockdown,capability,yama,apparmor\n" },
    wanted: /`lsm=landlock,lockdown,capability,yama,apparmor`/,
  },
];

for (const { what, limits, files, wanted } of CASES) {
  test(`names the setting to change: ${what}`, (t) => {
    const fix = advice(limits, files);
    if (fix === null) return t.skip("the user cannot read the repository");
    assert.match(fix, wanted);
  });
}

test("names the setting that forbids user namespaces for root too", { skip: !IS_ROOT && "needs root" }, () => {
  const fix = advice({ namespaces: false }, { "proc/sys/user/max_user_namespaces": "0\n" }, false);
  assert.match(fix ?? "", /with `sysctl -w user\.max_user_namespaces=15000`/);
  const other = advice({ namespaces: false }, { "proc/sys/kernel/unprivileged_userns_clone": "0\n" }, false);
  assert.doesNotMatch(other ?? "", /unprivileged_userns_clone/);
});
