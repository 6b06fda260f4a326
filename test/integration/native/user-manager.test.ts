import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { keeperBinary } from "../../../src/executor/native/zygote.ts";

/** A user that no machine has, so that this test cannot meet a real manager. */
const UID = 64_321;
const RUNTIME = `/run/user/${UID}`;
const skip = process.getuid?.() === 0 && !existsSync(RUNTIME) ? false : "requires root";

test("an ordinary user's keeper asks the systemd manager for a delegated scope of its own", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-test-"));
  const [keeper, hierarchy, own] = [join(folder, "keeper"), join(folder, "hierarchy"), join(folder, "cgroup")];
  t.after(() => {
    rmSync(folder, { recursive: true });
    rmSync(RUNTIME, { recursive: true });
  });
  // A login session, from which the user cannot create cgroups, in a hierarchy that has the controllers.
  for (const made of [hierarchy, join(hierarchy, "session.scope"), RUNTIME, join(RUNTIME, "systemd")]) {
    mkdirSync(made, { recursive: true });
    chownSync(made, UID, UID);
  }
  writeFileSync(join(hierarchy, "cgroup.controllers"), "cpu memory pids\n");
  writeFileSync(join(folder, "mountinfo"), `30 20 0:26 / ${hierarchy} rw shared:4 - cgroup2 cgroup2 rw\n`);
  writeFileSync(own, "0::/session.scope\n");
  chownSync(own, UID, UID);
  chmodSync(folder, 0o755);
  copyFileSync(keeperBinary(), keeper);
  const program = join(folder, "user-manager.mjs");
  copyFileSync(new URL("../../fixtures/programs/user-manager.mjs", import.meta.url), program);
  const user = { uid: UID, gid: UID, cwd: folder };
  const manager = spawn(process.execPath, [program, join(RUNTIME, "systemd/private"), own], {
    ...user,
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => manager.kill());
  const lines = createInterface({ input: manager.stdout })[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, "ready");

  const answer = execFileSync(keeper, ["limits", folder], { ...user, encoding: "utf8" });
  const { head, unit, body } = JSON.parse((await lines.next()).value as string) as Record<string, string>;
  assert.match(head ?? "", /org\.freedesktop\.systemd1\.Manager.*StartTransientUnit.*ssa\(sv\)a\(sa\(sv\)\)/s);
  assert.match(unit ?? "", /^sallyport-\d+\.scope$/);
  const properties = Buffer.from(body ?? "", "base64").toString("latin1");
  for (const name of ["Delegate", "PIDs", "CollectMode", "app-sallyport.slice"]) assert.ok(properties.includes(name));
  assert.equal(JSON.parse(answer).scope, true, answer);
});

test("without cgroups, a keeper reports that limits are not enforced by the kernel", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-test-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const file of ["cgroup", "mountinfo"]) writeFileSync(join(folder, file), "");
  const answer = execFileSync(keeperBinary(), ["limits", folder], { encoding: "utf8" });
  assert.deepEqual(JSON.parse(answer), { version: 0, memory: false, cpu: false, processes: false, scope: false });
});
