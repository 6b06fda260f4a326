import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { limitedKeeper } from "../../fixtures/limited-keeper.ts";
import { Cell } from "../../fixtures/sandbox-fixture.ts";

const { isolation, mounts } = sandboxCapabilities();
const isRoot = process.getuid?.() === 0;
const skip = mounts === "none" || !isolation ? "needs namespaces" : false;

// A machine without Landlock. The keeper is chosen before the first one is started.
process.env.SALLYPORT_KEEPER = limitedKeeper({ landlock: 0 });
const cell = await Cell.open();
after(() => cell.close());
const user = isRoot ? { uid: 61_234, gid: 61_234, groups: [61_234] } : null;
const owner = user?.uid ?? process.getuid?.() ?? 0;
const key = join(cell.secret, "key");
chmodSync(cell.folder, 0o755);
writeFileSync(key, "hidden");
for (const path of [cell.workspace, cell.temporary, cell.secret, key]) chownSync(path, owner, owner);

/** A process of the user outside the sandbox, which can read the denied path. */
const outside = spawn("sleep", ["300"], { ...(user ? { uid: user.uid, gid: user.gid } : {}), stdio: "ignore" });
after(() => outside.kill("SIGKILL"));

const attempts: Record<string, string> = {
  "reads a denied path through /proc/PID/root": `cat /proc/*/root${key}`,
  "reads through /proc/PID/cwd": `cd /proc/${outside.pid}/cwd/. && cat /proc/${outside.pid}/root${key}`,
};

for (const [what, text] of Object.entries(attempts)) {
  test(`without Landlock, no command ${what}`, { skip }, async () => {
    const free = { ...cell.sandbox(), writable: ["/"], denied: [], temporary: null, user };
    const { stdout } = await cell.sh(`${text} 2>/dev/null`, user ? free : null);
    assert.match(stdout, /hidden/, "the attempt does not work without the sandbox either");
    for (const isolated of [false, true]) {
      const { stdout: got } = await cell.sh(`${text} 2>/dev/null`, cell.sandbox({ user, isolated }));
      assert.equal(got, "");
    }
  });
}

test("without Landlock, no command writes outside its paths through /proc/PID/root", { skip }, async () => {
  const made = join(cell.secret, "made");
  const text = `echo x > /proc/${outside.pid}/root${made} 2>/dev/null`;
  await cell.sh(text, user ? { ...cell.sandbox(), writable: ["/"], denied: [], temporary: null, user } : null);
  assert.ok(existsSync(made), "the attempt does not work without the sandbox either");
  for (const isolated of [false, true]) {
    rmSync(made, { force: true });
    await cell.sh(text, cell.sandbox({ user, isolated }));
    assert.equal(existsSync(made), false);
  }
});

test("without Landlock, a command sees only its own processes", { skip }, async () => {
  const { stdout, record } = await cell.sh(
    "ls /proc | grep -c '^[0-9]'; kill -0 $PPID 2>/dev/null; echo $$",
    cell.sandbox({ user }),
  );
  const [count, pid] = stdout.split("\n").map(Number);
  assert.ok((count ?? 99) < 10 && (pid ?? 99) < 20, stdout);
  assert.deepEqual(record.gaps, ["landlock"]);
});
