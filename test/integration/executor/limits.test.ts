import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { groupsOf, lacks } from "../../fixtures/cgroups.ts";
import { compile } from "../../fixtures/compile.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { allProcesses, exists, send, zygotesOf } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());
const MIB = 1 << 20;
const ALL = { memoryBytes: 64 * MIB, cpu: 0.5, processes: 40 };
const skip = lacks("memory", "cpu", "pids");

/** Reads the first of these files that exists in a cgroup of the session. */
function fileOf(id: string, ...names: string[]): string {
  const paths = groupsOf(id).flatMap((group) => names.map((name) => join(group, name)));
  const path = paths.find((each) => existsSync(each));
  assert.ok(path, `no ${names.join(" or ")} in ${groupsOf(id).join(", ")}`);
  return readFileSync(path, "utf8").trim();
}

function keeperOf({ id }: { id: string }): number {
  return allProcesses().find(({ title }) => title.startsWith(`keeper: ${id}`))?.pid ?? 0;
}

test("sets each limit in a cgroup that exists as long as the command", { skip }, async () => {
  const session = await gateway.start({ command: "cat", stdin: "open", limits: ALL });
  assert.equal(fileOf(session.id, "memory.limit_in_bytes", "memory.max"), String(64 * MIB));
  assert.match(fileOf(session.id, "cpu.cfs_quota_us", "cpu.max"), /^50000( 100000)?$/);
  assert.equal(fileOf(session.id, "pids.max"), "40");
  const pid = String(session.info().pid);
  for (const group of groupsOf(session.id)) {
    assert.ok(readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").includes(pid), `${pid} is not in ${group}`);
  }
  await session.closeStdin();
  assert.equal((await session.wait()).status, "completed");
  await until("the session's cgroups are removed", () => groupsOf(session.id).length === 0);
});

test("a command without limits has no cgroup", async () => {
  const session = await gateway.start({ command: "cat", stdin: "open" });
  assert.deepEqual(groupsOf(session.id), []);
  await session.kill({ graceMs: 0 });
});

test("sessions show their limits, and requests above the configured ones are reduced with a warning", async (t) => {
  const limits = { memoryBytes: 32 * MIB, cpu: 1, processes: 30 };
  const strict = await fixture.open({ policy: { scope: "anywhere", limits } });
  t.after(() => strict.close());
  const asked = { memoryBytes: 16 * MIB, cpu: 2, processes: 100 };
  const result = await strict.run({ command: "true", args: [], limits: asked });
  const notes = result.warnings.filter((warning) => warning.includes("was reduced"));
  assert.deepEqual(notes, [
    "the CPU limit was reduced from 2 to 1, the configured maximum",
    "the process limit was reduced from 100 to 30, the configured maximum",
  ]);
  const given = { ...limits, memoryBytes: 16 * MIB, diskBytes: null, fileSize: null, openFiles: null };
  assert.deepEqual(strict.session(result.id).info().limits, given);
});

test("reports the usage of the whole tree", { skip }, async () => {
  const [bomb, enough] = [compile("bomb"), fixture.path("enough")];
  const command = `${bomb} hold 30 ${enough} & ${bomb} hold 30 ${enough} & wait`;
  const session = await gateway.start({ command, limits: { memoryBytes: 256 * MIB } });
  await until("both processes have allocated their memory", async () => (await session.logs()).text === "held\nheld\n");
  writeFileSync(enough, "");
  const { resourceUsage, exitCode } = await session.wait();
  assert.equal(exitCode, 0);
  assert.ok((resourceUsage?.memoryPeakBytes ?? 0) > 55 * MIB, JSON.stringify(resourceUsage));
});

test("the leftovers of a background command stay in its cgroups", { skip }, async () => {
  // Reads from descriptor 3, because a shell's background jobs have /dev/null as stdin.
  const command = `exec 3<&0; setsid sh -c 'read go <&3; exec ${compile("bomb")} memory' & exit 0`;
  const session = await gateway.start({ command, limits: ALL, stdin: "open" });
  assert.deepEqual([(await session.wait()).status, session.info().lingering], ["completed", true]);
  assert.ok(groupsOf(session.id).length > 0);
  await session.kill({ graceMs: 0 });
  await until("the session's cgroups are removed", () => groupsOf(session.id).length === 0);
});

test("a leftover that exceeds a limit is killed, and the command's outcome does not change", async () => {
  const command = `setsid ${compile("bomb")} memory & exit 0`;
  const session = await gateway.start({ command, limits: { memoryBytes: 64 * MIB } });
  await until(
    "the session has ended and no longer lingers",
    () => session.info().status !== "running" && !session.info().lingering,
  );
  const { status, exitCode, warnings } = session.info();
  if (status === "completed") {
    assert.equal(exitCode, 0);
    assert.match(warnings.join("\n"), /child processes exceeded the memory limit of 64 MiB and were killed/);
  } else assert.equal(status, "killed"); // The leftover exceeded the limit before its parent exited.
});

test("the zygote removes the cgroups of a killed keeper", { skip }, async () => {
  const session = await gateway.start({ command: "setsid sleep 300 & sleep 300", limits: ALL });
  await until("all processes of the tree are running", () => session.usage().processes.length >= 3);
  const members = session.usage().processes.map(({ pid }) => pid);
  send(keeperOf(session), "SIGKILL");
  assert.equal((await session.wait()).status, "lost");
  await until("no process of the tree exists", () => members.every((pid) => !exists(pid)));
  await until("the session's cgroups are removed", () => groupsOf(session.id).length === 0);
});

test("when keeper and zygote are killed at once, escaped processes are found by their cgroup and killed", {
  skip,
}, async () => {
  const session = await gateway.start({ command: "(setsid sleep 300 &); echo up; sleep 300", limits: ALL });
  const sleepers = () => session.usage().processes.filter(({ command }) => command.startsWith("sleep"));
  await until("all processes of the tree are running", () => sleepers().length === 2);
  const members = session.usage().processes.map(({ pid }) => pid);
  const [zygote = 0] = zygotesOf(fixture.state);
  const keeper = keeperOf(session);
  // The zygote is stopped first, so that it does not notice the killed keeper before it is killed itself.
  send(zygote, "SIGSTOP");
  send(keeper, "SIGKILL");
  send(zygote, "SIGKILL");
  assert.equal((await session.wait()).status, "lost");
  await until("all processes of the tree have exited", () => members.every((pid) => !exists(pid) || isZombie(pid)));
  await until("the session's cgroups are removed", () => groupsOf(session.id).length === 0);
});

/** Reports whether a process is a zombie, which counts as exited: not every PID 1 reaps orphans. */
function isZombie(pid: number): boolean {
  return allProcesses().find((seen) => seen.pid === pid)?.state === "Z";
}

test("concurrent commands have a cgroup each", { skip }, async () => {
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, i) => gateway.run({ command: `echo ${i}`, limits: ALL })),
  );
  assert.deepEqual(
    results.map(({ stdout, status }) => `${status} ${stdout}`),
    results.map((_, i) => `completed ${i}\n`),
  );
  await until("the cgroups of all commands are removed", () => results.every(({ id }) => groupsOf(id).length === 0));
});
