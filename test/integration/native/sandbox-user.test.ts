import assert from "node:assert/strict";
import { chmodSync, chownSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { SandboxSpec } from "../../../src/core/launch.ts";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { exists } from "../../fixtures/processes.ts";
import { Cell } from "../../fixtures/sandbox-fixture.ts";
import { until } from "../../fixtures/until.ts";

const skip = process.getuid?.() === 0 ? false : "only root can run commands as another user";
const ANYBODY = { uid: 61234, gid: 61235, groups: [61235, 61236] };
const cell = await Cell.open();
after(() => cell.close());
if (!skip) for (const folder of [cell.workspace, cell.temporary]) chownSync(folder, ANYBODY.uid, ANYBODY.gid);
const profiles: Record<string, Partial<SandboxSpec>> = { plain: {} };
if (sandboxCapabilities().isolation) profiles.isolated = { isolated: true };

for (const [name, profile] of Object.entries(profiles)) {
  const sandbox = cell.sandbox({ ...profile, user: ANYBODY });

  test(`${name}: a command runs as the given user, with its groups and without capabilities`, {
    skip,
  }, async () => {
    const { record, stdout, stderr } = await cell.sh(
      "id -u; id -g; id -G; grep -E '^Cap(Eff|Prm|Inh|Amb)' /proc/self/status | cut -f2 | sort -u; touch made; echo x > $CELL/temporary/t; echo err > /dev/stderr",
      sandbox,
    );
    assert.deepEqual([record.code, record.gaps, stderr], [0, undefined, "err\n"]);
    assert.equal(stdout, "61234\n61235\n61235 61236\n0000000000000000\n");
    const made = statSync(join(cell.workspace, "made"));
    assert.deepEqual([made.uid, made.gid], [ANYBODY.uid, ANYBODY.gid]);
  });

  test(`${name}: the command cannot become root again`, { skip }, async () => {
    const { stdout } = await cell.sh(
      "su -c id root < /dev/null 2>/dev/null; sudo -n id 2>/dev/null; echo end",
      sandbox,
    );
    assert.equal(stdout, "end\n");
  });

  test(`${name}: rejects a working directory that the user cannot enter`, { skip }, async () => {
    const closed = join(cell.workspace, `closed-${name}`);
    cell.own(closed);
    const { record } = await cell.run(["true"], sandbox, { cwd: closed });
    assert.deepEqual([record.reason, record.step, record.errno], ["failed", "chdir", 13]);
    chmodSync(closed, 0o711);
    assert.equal((await cell.run(["true"], sandbox, { cwd: closed })).record.code, 0);
  });

  test(`${name}: the command ends with its keeper`, { skip }, async () => {
    const execution = await cell.start(["sleep", "300"], sandbox);
    const release = execution.hold();
    const pid = (await execution.started) ?? 0;
    assert.ok(exists(pid));
    process.kill(execution.keeperPid, "SIGKILL");
    assert.equal(await execution.ended, "lost");
    release();
    await until("the command has exited", () => !exists(pid));
  });
}

test("an unprivileged keeper cannot run commands as another user", { skip }, async (t) => {
  const ordinary = await Cell.open(65534);
  t.after(() => ordinary.close());
  const { record } = await ordinary.run(["true"], ordinary.sandbox({ user: ANYBODY }));
  assert.deepEqual([record.reason, record.step, record.errno], ["failed", "sandbox-user", 1]);
});
