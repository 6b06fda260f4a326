import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import type { SessionInfo } from "../../../../src/core/session.ts";
import type { Session } from "../../../../src/session/session.ts";
import { OtherGateway } from "../../../fixtures/other-gateway.ts";
import { allProcesses, isRunning, send, zygotesOf } from "../../../fixtures/processes.ts";
import { until } from "../../../fixtures/until.ts";
import { ExecutorFixture } from "./fixture.ts";

const fixture = new ExecutorFixture();
const gateway = await fixture.openWith("portable");
after(() => fixture.close());
afterEach(async () => {
  for (const { id } of gateway.list({ status: "running" })) await gateway.session(id).kill({ graceMs: 0 });
});

/** Returns the PID of the portable keeper of the state folder, which may have a native zygote too. */
function keeper(): number {
  const portable = allProcesses().filter(({ title }) => title.startsWith("keeper: portable "));
  const [pid] = zygotesOf(fixture.state).filter((zygote) => portable.some((each) => each.pid === zygote));
  assert.ok(pid, "no portable keeper is running");
  return pid;
}

test("every result warns about the limitations of the portable executor", async () => {
  const { warnings, resourceUsage } = await gateway.run({ command: "true" });
  assert.equal(warnings.length, 1, warnings.join("\n"));
  assert.match(warnings[0] ?? "", /portable executor: no sandbox/);
  assert.equal(resourceUsage, null, "usage that is not measured was not reported as null");
});

test("finds a program in the folders of PATH, and ignores empty entries", async () => {
  const [first, second] = [join(fixture.workspace, "first"), join(fixture.workspace, "second")];
  for (const folder of [first, second, join(first, "folder")]) mkdirSync(folder);
  writeFileSync(join(first, "tool"), "");
  writeFileSync(join(second, "tool"), "#!/bin/sh\necho second\n", { mode: 0o755 });
  const outcome = async (command: string, path: string, cwd = fixture.workspace) => {
    const before = process.env.PATH;
    process.env.PATH = path;
    try {
      const other = await fixture.openWith("portable");
      const { stdout, error } = await other.run({ command, args: [], cwd });
      await other.close();
      return error?.type ?? stdout;
    } finally {
      process.env.PATH = before;
    }
  };
  assert.equal(await outcome("tool", `${first}:${second}`), "second\n");
  assert.equal(await outcome("none", `${first}:${second}`), "CommandNotFound");
  assert.equal(await outcome("folder", first), "PermissionDenied");
  assert.equal(await outcome("tool", "::", second), "CommandNotFound");
  assert.equal(await outcome("./tool", "/none", second), "second\n");
  chmodSync(join(second, "tool"), 0o644);
  assert.equal(await outcome("tool", second), "PermissionDenied");
});

test("concurrent first commands start one keeper", async () => {
  const fresh = new ExecutorFixture();
  try {
    const first = await fresh.openWith("portable");
    const results = await Promise.all(Array.from({ length: 12 }, (_, i) => first.run({ command: `echo ${i}` })));
    assert.deepEqual(
      results.map(({ stdout }) => stdout),
      results.map((_, i) => `${i}\n`),
    );
    await until("exactly one keeper is running", () => zygotesOf(fresh.state).length === 1);
  } finally {
    await fresh.close();
  }
});

test("a session shows only its own processes, although all sessions share one keeper", async () => {
  const one = await gateway.start({ command: "sleep 60 & sleep 60; wait" });
  const two = await gateway.start({ command: "exec sleep 61" });
  const sleeping = (session: Session, seconds: number) =>
    session.usage().processes.filter(({ command }) => command === `sleep ${seconds}`).length;
  await until("all processes of both sessions are running", () => sleeping(one, 60) === 2 && sleeping(two, 61) === 1);
  assert.deepEqual([one.usage().processes.length, two.usage().processes.length], [3, 1]);
});

test("a killed keeper loses its sessions, and the next keeper kills their processes", async () => {
  const session = await gateway.start({ command: "echo up; setsid sleep 300 & sleep 300" });
  await until("the command is running", async () => (await session.logs()).text === "up\n");
  await until("all processes of the tree are running", () => fixture.alive().length >= 3);
  const before = fixture.alive();
  const old = keeper();
  send(old, "SIGKILL");
  const info = await session.wait();
  assert.deepEqual([info.status, info.error?.type], ["lost", "SessionLost"]);
  assert.equal((await session.logs()).text, "up\n");
  assert.equal((await gateway.run({ command: "echo next" })).stdout, "next\n");
  assert.notEqual(keeper(), old);
  await until("the processes of the lost session are killed", () => !before.some(isRunning));
});

test("SIGTERM makes a keeper finish its commands while another keeper takes over", async () => {
  const session = await gateway.start({ command: "sleep 1; echo done" });
  const old = keeper();
  send(old, "SIGTERM");
  assert.equal((await gateway.run({ command: "echo next" })).stdout, "next\n");
  assert.deepEqual([(await session.wait()).status, (await session.logs()).text], ["completed", "done\n"]);
  await until("the old keeper has exited", () => !isRunning(old));
});

test("a keeper exits when its state folder is removed", async () => {
  const fresh = new ExecutorFixture();
  const other = await fresh.openWith("portable");
  await other.run({ command: "true" });
  const [pid = 0] = zygotesOf(fresh.state);
  await other.close();
  await fresh.close();
  await until("the keeper has exited", () => !isRunning(pid));
});

test("serves a state folder whose socket paths are too long for a socket address", async () => {
  const parent = mkdtempSync(join(tmpdir(), "sallyport-long-"));
  const deep = new ExecutorFixture(join(parent, "d".repeat(120)));
  try {
    const first = await deep.openWith("portable");
    const session = await first.start({ command: "cat", stdin: "open" });
    const second = await deep.openWith("portable");
    await second.session(session.id).write("hello\n");
    await second.session(session.id).closeStdin();
    await session.wait();
    assert.equal((await session.logs()).text, "hello\n");
    await until("the session's socket is removed", () => !existsSync(join(deep.sessionFolder(session.id), "ctl")));
  } finally {
    await deep.close();
    rmSync(parent, { recursive: true, force: true });
  }
});

test("gateways with the native and the portable executor reach each other's sessions", async () => {
  const native = await fixture.openWith("native");
  const portable = await gateway.start({ command: "cat; exit 4", stdin: "open" });
  await native.session(portable.id).write("from there\n");
  await native.session(portable.id).closeStdin();
  const info = await native.session(portable.id).wait();
  assert.deepEqual([info.status, info.exitCode], ["completed", 4]);
  const other = await native.start({ command: "exec sleep 60" });
  assert.equal(gateway.session(other.id).info().status, "running");
  assert.equal((await gateway.session(other.id).kill()).status, "killed");
});

test("a session survives its gateway, and another kills it", async () => {
  const first = await OtherGateway.open(fixture, { env: { SALLYPORT_EXECUTOR: "portable" } });
  const request = { command: "exec sleep 300" };
  const { id, pid } = await first.ask<SessionInfo>({ call: "start", request });
  await first.kill();
  assert.equal(gateway.session(id).info().status, "running");
  assert.ok(pid !== null && isRunning(pid));
  assert.equal((await gateway.session(id).kill()).status, "killed");
});

test("removes the stdin file, the pipes and the socket of a command", async () => {
  const { id } = await gateway.run({ command: "cat", stdin: { text: "a secret" } });
  assert.equal(existsSync(join(fixture.sessionFolder(id), "stdin")), false);
  await until(
    "the session's pipes are removed",
    () => !readdirSync(fixture.state).some((name) => name.startsWith("pipes-")),
  );
  await until("the session's socket is removed", () => !existsSync(join(fixture.sessionFolder(id), "ctl")));
});

test("/dev/stdout and /dev/stderr can be opened", async () => {
  const result = await gateway.run({ command: "echo out > /dev/stdout; echo err > /dev/stderr" });
  assert.deepEqual([result.stdout, result.stderr], ["out\n", "err\n"]);
});

test("a keeper does not have the gateway's environment", async () => {
  const seen = allProcesses().find(({ pid }) => pid === keeper());
  assert.equal(seen?.title, `keeper: portable ${fixture.state}`);
  assert.ok(!fixture.alive().includes(keeper()), "the keeper's environment has a variable of the gateway");
});
