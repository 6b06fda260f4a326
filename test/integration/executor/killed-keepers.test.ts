import assert from "node:assert/strict";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { NativeExecutor } from "../../../src/executor/native/executor.ts";
import type { Session } from "../../../src/session/session.ts";
import { LocalSessionReader } from "../../../src/session/session-folder.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { allProcesses, exists, isRunning, send, zygotesOf } from "../../fixtures/processes.ts";
import { pause, until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

function keeperOf(session: Session): number {
  const title = `keeper: ${session.id}`;
  const keeper = allProcesses().find((seen) => seen.title.startsWith(title));
  assert.ok(keeper, `no process has the title ${title}`);
  return keeper.pid;
}

/** Returns the files that only a running keeper needs. */
function leftIn({ id }: { id: string }): string[] {
  return readdirSync(fixture.sessionFolder(id)).filter((name) => name === "ctl" || name === "exit.new");
}

const FAMILY = "setsid sleep 300 & (setsid sh -c 'sleep 300 & sleep 300' &) ; echo up; sleep 300";

test("killing a keeper ends its whole tree, and its session is lost", async () => {
  const bystander = await gateway.start({ command: "sleep 0.5; echo done" });
  const session = await gateway.start({ command: FAMILY });
  const sleepers = () => session.usage().processes.filter(({ command }) => command === "sleep 300");
  await until("all processes of the tree are running", () => sleepers().length === 4);
  const members = session.usage().processes.map(({ pid }) => pid);
  send(keeperOf(session), "SIGKILL");
  const info = await session.wait();
  assert.deepEqual([info.status, info.exitCode, info.signal, info.lingering], ["lost", null, null, false]);
  assert.equal(info.error?.type, "SessionLost");
  assert.ok((info.error?.recovery.length ?? 0) > 0);
  await until("no process of the tree exists, not even as a zombie", () => members.every((pid) => !exists(pid)));
  assert.equal((await session.logs()).text, "up\n");
  assert.deepEqual(leftIn(session), []);
  assert.deepEqual([(await bystander.wait()).status, (await bystander.logs()).text], ["completed", "done\n"]);
});

test("a foreground run whose keeper is killed is lost, and the gateway keeps working", async () => {
  const running = gateway.run({ command: "echo before; exec sleep 300", name: "doomed" });
  await until("the command is running", () => fixture.alive().length === 1);
  await until(
    "the command has written output",
    async () => (await gateway.session("doomed").logs({ stream: "stdout" })).text !== "",
  );
  send(keeperOf(gateway.session("doomed")), "SIGKILL");
  const result = await running;
  assert.deepEqual([result.status, result.exitCode, result.stdout], ["lost", null, "before\n"]);
  assert.equal(result.error?.type, "SessionLost");
  assert.equal((await gateway.run({ command: "echo after" })).stdout, "after\n");
});

test("a session whose keeper was killed while no gateway ran is lost, not running", async () => {
  const quiet = await fixture.open();
  const session = await quiet.start({ command: FAMILY });
  await quiet.close();
  const keeper = keeperOf(session);
  send(keeper, "SIGKILL");
  await until("the keeper has exited", () => !exists(keeper));
  assert.equal(gateway.session(session.id).info().status, "lost");
  assert.equal((await gateway.session(session.id).wait()).status, "lost");
  assert.deepEqual(leftIn(session), []);
  assert.equal(gateway.list({ status: "running" }).length, 0);
  await assert.rejects(gateway.session(session.id).kill(), { type: "AlreadyExited" });
});

test("killing the keeper of a lingering session does not change its outcome", async () => {
  const session = await gateway.start({ command: "setsid sleep 300 & exit 4" });
  assert.equal((await session.wait()).lingering, true);
  send(keeperOf(session), "SIGKILL");
  await until("the session no longer lingers", () => !session.info().lingering);
  assert.deepEqual([session.info().status, session.info().exitCode], ["completed", 4]);
  await until("the leftover process has exited", () => fixture.alive().length === 0);
});

test("a keeper that is killed before it claims the command is replaced, and other gateways see the new one", async () => {
  await gateway.run({ command: "true" });
  const other = await fixture.open({ attach: false });
  // One of the killed keepers has the spare connection that the next command will try.
  const [zygote] = zygotesOf(fixture.state);
  for (const { pid, ppid } of allProcesses()) if (ppid === zygote) send(pid, "SIGKILL");
  const session = await gateway.start({ command: "exec sleep 300" });
  assert.equal(session.info().status, "running");
  assert.equal(other.session(session.id).info().status, "running");
  assert.equal(session.usage().processes.length, 1);
  const third = await fixture.open();
  assert.equal(third.session(session.id).info().status, "running");
  assert.equal((await other.session(session.id).kill()).status, "killed");
  assert.equal((await session.wait()).status, "killed");
});

/** Returns the zygote. A new gateway starts it, because a gateway with spare connections would not need it. */
async function theZygote(): Promise<number> {
  const fresh = await fixture.open();
  await fresh.run({ command: "true" });
  await until("exactly one zygote is running", () => zygotesOf(fixture.state).length === 1);
  return zygotesOf(fixture.state)[0] ?? 0;
}

test("killing the zygote does not affect running commands, and the next command starts a new one", async () => {
  const before = await gateway.start({ command: "sleep 1; echo done" });
  const held = await gateway.start({ command: "cat", stdin: "open" });
  const zygote = await theZygote();
  send(zygote, "SIGKILL");
  await until("the zygote has exited", () => !isRunning(zygote));
  const results = await Promise.all(Array.from({ length: 5 }, (_, i) => gateway.run({ command: `echo ${i}` })));
  assert.deepEqual(
    results.map(({ stdout }) => stdout),
    ["0\n", "1\n", "2\n", "3\n", "4\n"],
  );
  assert.notEqual(await theZygote(), zygote);
  assert.deepEqual([(await before.wait()).status, (await before.logs()).text], ["completed", "done\n"]);
  await held.write("still here\n");
  await until("the command echoes its input", async () => (await held.logs()).text === "still here\n");
  assert.equal((await held.kill()).status, "killed");
});

test("killing the zygote during launches loses no command", async () => {
  for (let round = 0; round < 12; round++) {
    const running = Array.from({ length: 8 }, (_, i) => gateway.run({ command: `echo ${i}` }));
    await pause(round);
    for (const zygote of zygotesOf(fixture.state)) send(zygote, "SIGKILL");
    assert.deepEqual(
      (await Promise.all(running)).map(({ status, stdout }) => `${status} ${stdout}`),
      Array.from({ length: 8 }, (_, i) => `completed ${i}\n`),
    );
  }
});

test("a zygote that gets SIGTERM lets running commands finish, and another takes over at once", async () => {
  const before = await gateway.start({ command: "sleep 1; echo done" });
  const zygote = await theZygote();
  send(zygote, "SIGTERM");
  assert.equal((await gateway.run({ command: "echo next" })).stdout, "next\n");
  assert.deepEqual([(await before.wait()).status, (await before.logs()).text], ["completed", "done\n"]);
  await until("the old zygote has exited", () => !isRunning(zygote));
});

test("a zygote whose socket was removed is replaced and exits", async () => {
  const old = await theZygote();
  const other = await fixture.open();
  const { socketPath } = await import("../../../src/executor/native/zygote.ts");
  rmSync(socketPath(fixture.state));
  send(old, "SIGTERM");
  writeFileSync(socketPath(fixture.state), "not a socket");
  assert.equal((await other.run({ command: "echo next" })).stdout, "next\n");
  await until("the old zygote has exited", () => !isRunning(old));
});

test("ignores an invalid exit record", async () => {
  const quiet = await fixture.open();
  for (const garbage of ["", "{", "null", "[]", '{"reason":"exited"}', "\0\0\0", `{"reason":"exited","code":"0"}`]) {
    const session = await quiet.start({ command: "sleep 300" });
    quiet.session(session.id);
    const keeper = keeperOf(session);
    send(keeper, "SIGSTOP");
    writeFileSync(join(fixture.sessionFolder(session.id), "exit"), garbage);
    assert.equal(session.info().status, "running", garbage);
    send(keeper, "SIGKILL");
    assert.equal((await session.wait()).status, "lost", garbage);
  }
});

test("two gateways report the same outcome for a command that no keeper claimed, even if the clock was set back", () => {
  for (const created_ms of [0, Date.now() + 3_600_000]) {
    const session = {
      id: `01a00000-0000-7000-8000-${created_ms}`,
      name: "nobody",
      keeper_pid: 2 ** 22,
      created_ms,
      lingering: 0,
    };
    const ends = [
      new NativeExecutor(fixture.state, new LocalSessionReader()),
      new NativeExecutor(fixture.state, new LocalSessionReader()),
    ].map((executor) => executor.lookUpExit(session as never, () => session.keeper_pid));
    for (const end of ends) assert.ok(end !== null && end !== "lost" && end.reason === "failed");
  }
});
