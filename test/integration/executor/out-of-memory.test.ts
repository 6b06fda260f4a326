import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { lacks, ownGroup } from "../../fixtures/cgroups.ts";
import { compile } from "../../fixtures/compile.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { childrenOf, zygotesOf } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
after(() => fixture.close());
const MIB = 1 << 20;

/** Writes the first of these files that exists in a folder. */
function set(folder: string, names: string[], value: string | number): void {
  const file = names.map((name) => join(folder, name)).find((each) => existsSync(each));
  assert.ok(file, `no ${names.join(" or ")} in ${folder}`);
  writeFileSync(file, String(value));
}

// The test plays a small machine: the zygote, its keepers and their commands are in a group of 256 MiB.
const own = ownGroup("memory");
const machine = join(own?.folder ?? "", `sallyport-test-${process.pid}`);
const skip = lacks("memory") || (own?.version === 2 && "the group of this process cannot have children with limits");

test("reports that the machine ran out of memory, not a limit of the command, and keeps the keeper", {
  skip,
}, async (t) => {
  const gateway = await fixture.open();
  mkdirSync(machine);
  t.after(() => until("the group is empty", () => emptied()));
  set(machine, ["memory.limit_in_bytes", "memory.max"], 256 * MIB);
  set(machine, ["cgroup.procs"], process.pid);
  await gateway.run({ command: "true" }).finally(() => set(own?.folder ?? "", ["cgroup.procs"], process.pid));

  for (const command of [`${compile("bomb")} memory`, `${compile("bomb")} memory; exit $?`]) {
    const { status, exitCode, signal, warnings } = await gateway.run({ command, timeoutMs: 60_000 });
    assert.equal(status, "completed");
    assert.ok(exitCode === 137 || signal === "SIGKILL", `${exitCode} ${signal}`);
    assert.match(warnings.join("\n"), /ran out of memory, and the kernel killed a process of this command/);
  }
  const limited = await gateway.run({ command: `${compile("bomb")} memory`, limits: { memoryBytes: 2048 * MIB } });
  assert.deepEqual([limited.status, limited.error], ["completed", null]);
  assert.match(limited.warnings.join("\n"), /ran out of memory/);
  const killed = await gateway.run({ command: "kill -9 $$" });
  assert.deepEqual([killed.signal, killed.warnings], ["SIGKILL", []]);
});

/** Removes the group after moving the keepers out of it. Returns false if some have not been moved yet. */
function emptied(): boolean {
  try {
    for (const pid of readFileSync(join(machine, "cgroup.procs"), "utf8").split("\n").filter(Boolean)) {
      set(own?.folder ?? "", ["cgroup.procs"], pid);
    }
    if (existsSync(join(machine, "sallyport"))) rmdirSync(join(machine, "sallyport"));
    rmdirSync(machine);
  } catch {
    return false;
  }
  return true;
}

test("the kernel prefers to kill a command rather than its keeper", async () => {
  const gateway = await fixture.open();
  const score = (pid: number | string) => Number(readFileSync(`/proc/${pid}/oom_score_adj`, "utf8"));
  for (const sandbox of ["off", "workspace-write"] as const) {
    // The third command of a keeper may run in a process that was forked before it arrived.
    for (let run = 0; run < 3; run++) {
      const session = await gateway.start({ command: "cat", stdin: "open", sandbox });
      const { pid } = session.info();
      const [zygote] = zygotesOf(fixture.state);
      assert.ok(pid && zygote);
      const keepers = childrenOf(zygote).map((keeper) => score(keeper.pid));
      assert.ok(score(pid) > Math.max(score(zygote), ...keepers), `${score(pid)} ${keepers.join(" ")}`);
      await session.closeStdin();
      await session.wait();
    }
  }
});
