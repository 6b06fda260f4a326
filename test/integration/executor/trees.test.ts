import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, afterEach, test } from "node:test";
import type { RunRequest } from "../../../src/core/request.ts";
import type { Session } from "../../../src/session/session.ts";
import { compile } from "../../fixtures/compile.ts";
import { EXECUTOR, nativeOnly } from "../../fixtures/executor.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { exists, isRunning, send } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());
// The tree of a failed test must not affect the next one.
afterEach(async () => {
  for (const { id } of gateway.list({ status: "running" })) await gateway.session(id).kill({ graceMs: 0 });
});

interface Tree {
  name: string;
  request: RunRequest;
  /** The number of processes of the complete tree. */
  members: number;
}

const IGNORING = `trap "" TERM HUP INT; sleep 300 & sleep 300 & while :; do wait; sleep 1; done`;
const TREES: Tree[] = [
  { name: "a setsid child", request: { command: "setsid sleep 300 & wait" }, members: 2 },
  {
    name: "a double-forked daemon that closed everything",
    request: { command: "(setsid sh -c 'sleep 300 & sleep 300' </dev/null >/dev/null 2>&1 &) ; sleep 300" },
    members: 4,
  },
  { name: "processes that ignore SIGTERM", request: { command: IGNORING }, members: 3 },
  {
    name: "stopped processes",
    request: { command: "sleep 300 & sleep 300 & kill -STOP %1 %2; kill -STOP $$" },
    members: 3,
  },
  {
    name: "a stopped process that ignores SIGTERM",
    request: { command: `(trap "" TERM; kill -STOP $BASHPID; while :; do sleep 300; done) & wait` },
    members: 2,
  },
  {
    name: "a process whose first thread has exited",
    request: { command: compile("first-thread-leaves"), args: [] },
    members: 1,
  },
  {
    name: "a child whose first thread has exited",
    request: { command: `${compile("first-thread-leaves")} & setsid ${compile("first-thread-leaves")} & wait` },
    members: 3,
  },
  {
    name: "500 members in all kinds of sessions",
    request: { command: "for i in $(seq 250); do sleep 300 & setsid sleep 300 & done; wait" },
    members: 501,
  },
  {
    name: "a chain 60 deep",
    request: { command: "f() { if [ $1 -gt 0 ]; then (f $(($1 - 1)); :) ; else sleep 300; fi; }; f 60" },
    members: 62,
  },
];

async function grow({ request, members }: Tree, options: Partial<RunRequest> = {}): Promise<[Session, number[]]> {
  const session = await gateway.start({ ...request, ...options });
  await until("all processes of the tree are running", () => fixture.alive().length >= members);
  return [session, fixture.alive()];
}

async function assertGone(pids: number[]): Promise<void> {
  assert.deepEqual(fixture.alive(), [], "a process still runs");
  if (EXECUTOR === "native") assert.deepEqual(pids.filter(exists), [], "a process still exists, possibly as a zombie");
  // PID 1 should reap orphans, but not every PID 1 does.
  else await until("no process runs, apart from zombies", () => !pids.some(isRunning));
}

for (const tree of TREES) {
  test(`a kill ends ${tree.name}`, async () => {
    const [session, pids] = await grow(tree);
    const info = await session.kill({ graceMs: 300 });
    assert.equal(info.status, "killed");
    await assertGone(pids);
  });

  test(`an immediate kill ends ${tree.name}`, async () => {
    const [session, pids] = await grow(tree);
    const info = await session.kill({ graceMs: 0 });
    assert.deepEqual([info.status, info.signal], ["killed", "SIGKILL"]);
    await assertGone(pids);
  });
}

for (const tree of TREES) {
  test(`a timeout ends ${tree.name}`, async () => {
    const [session, pids] = await grow(tree, { graceMs: 200 });
    await session.extend(1);
    const info = await session.wait();
    assert.deepEqual([info.status, info.timedOut], ["timed_out", true]);
    await assertGone(pids);
  });
}

test("ends a command that keeps starting short-lived children", async () => {
  const storm = compile("fork-storm");
  for (const graceMs of [0, 200]) {
    const [session] = await grow({ name: "", request: { command: storm, args: ["200"] }, members: 20 });
    const info = await session.kill({ graceMs });
    assert.equal(info.signal, "SIGKILL");
    await assertGone([]);
  }
});

test(
  "ends processes that fork and exit at once",
  nativeOnly("the processes may exit before they are found"),
  async () => {
    const session = await gateway.start({ command: compile("runner"), args: ["8", "20"] });
    await until("the processes are running", () => fixture.alive().length >= 4);
    const info = await session.kill({ graceMs: 100 });
    assert.equal(info.status, "killed");
    await assertGone([]);
  },
);

test("all kinds of leftovers end with a foreground command", async () => {
  for (const [i, { request, members }] of TREES.slice(0, 3).entries()) {
    const complete = fixture.path(`complete-${i}`);
    const command = `(${request.command}) & until [ -e ${complete} ]; do sleep 0.02; done; echo done`;
    const running = gateway.run({ command });
    await until("all processes of the tree are running", () => fixture.alive().length > members);
    writeFileSync(complete, "");
    const result = await running;
    assert.deepEqual([result.status, result.exitCode, result.stdout], ["completed", 0, "done\n"]);
    assert.ok(result.leftover >= members - 1, `${result.leftover} leftovers`);
    await assertGone([]);
  }
});

test("a kill with a grace period lets the command clean up", async () => {
  const command = `trap 'echo bye; echo cleaned > "${fixture.path("cleaned")}"; exit 3' TERM; echo up; while :; do sleep 0.05; done`;
  const session = await gateway.start({ command });
  await until("the command is running", async () => (await session.logs()).text === "up\n");
  const info = await session.kill();
  assert.deepEqual([info.status, info.exitCode, info.signal], ["killed", 3, null]);
  assert.equal((await session.logs({ stream: "stdout" })).text, "up\nbye\n");
  assert.equal(readFileSync(fixture.path("cleaned"), "utf8"), "cleaned\n");
});

test("a signal that is not meant to end the command reaches only the main process", async () => {
  const command = `trap 'echo got it' USR1; (trap 'echo child got it' USR1; while :; do sleep 0.05; done) & echo up; while :; do sleep 0.05; done`;
  const session = await gateway.start({ command });
  await until("the command is running", async () => (await session.logs()).text === "up\n");
  const info = await session.kill({ signal: "USR1" });
  assert.equal(info.status, "running");
  await until("the command has handled the signal", async () => (await session.logs()).text === "up\ngot it\n");
  assert.equal((await session.kill({ graceMs: 0 })).status, "killed");
});

test("a tree can be stopped and continued", async () => {
  const session = await gateway.start({ command: "sleep 300 & sleep 300 & wait" });
  await until("all three processes are running", () => session.usage().processes.length === 3);
  await session.kill({ signal: "SIGSTOP" });
  await until("all processes are stopped", () => session.usage().processes.every(({ state }) => state === "T"));
  await session.kill({ signal: "18" });
  await until("all processes have continued", () => session.usage().processes.every(({ state }) => state === "S"));
  assert.equal((await session.kill()).status, "killed");
});

test("SIGTERM to the keeper ends its command", nativeOnly("one portable keeper supervises all commands"), async () => {
  const session = await gateway.start({ command: "setsid sleep 300 & sleep 300", name: "by-hand" });
  const { processes } = session.usage();
  const keeper = processes.find(({ pid }) => pid === session.info().pid)?.ppid ?? 0;
  send(keeper, "SIGTERM");
  assert.equal((await session.wait()).status, "killed");
  await until("the session no longer lingers", () => !session.info().lingering);
  await assertGone([]);
});
