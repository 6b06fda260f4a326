import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { RunResult } from "../../../src/core/result.ts";
import type { SessionInfo } from "../../../src/core/session.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { OtherGateway } from "../../fixtures/other-gateway.ts";
import { childrenOf, send, zygotesOf } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";

const root = process.getuid?.() === 0;
/** A user without other processes, so that the process limit counts only this test's. */
const NOBODY_ELSE = 54_321;

interface Failure {
  type: string;
  recovery: { action: string; hint: string }[];
}

test("reports exhausted processes, and running commands continue", {
  skip: root ? false : "requires root to run as another user",
}, async (t) => {
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  mkdirSync(fixture.state, { mode: 0o700 });
  chmodSync(fixture.folder, 0o755);
  chownSync(fixture.state, NOBODY_ELSE, NOBODY_ELSE);
  chownSync(fixture.workspace, NOBODY_ELSE, NOBODY_ELSE);
  const through = [
    "setpriv",
    `--reuid=${NOBODY_ELSE}`,
    `--regid=${NOBODY_ELSE}`,
    "--clear-groups",
    "prlimit",
    "--nproc=60",
    "--",
  ];
  const other = await OtherGateway.open(fixture, { through });
  const running: string[] = [];
  const failures: Failure[] = [];
  for (let i = 0; i < 60 && failures.length < 3; i++) {
    try {
      const info = await other.ask<SessionInfo>({ call: "start", request: { command: "sleep", args: ["600"] } });
      if (info.status === "running") running.push(info.id);
      else failures.push(info.error as unknown as Failure);
    } catch (error) {
      failures.push(error as unknown as Failure);
    }
  }
  assert.equal(failures.length, 3, "the limit was never reached");
  assert.ok(running.length > 5, `only ${running.length} started`);
  for (const { type, recovery } of failures) {
    assert.equal(type, "SpawnFailed");
    assert.ok(recovery.length > 0);
  }
  for (const id of running) {
    assert.equal((await other.ask<SessionInfo>({ call: "info", id })).status, "running");
    assert.equal((await other.ask<SessionInfo>({ call: "kill", id, options: { graceMs: 0 } })).status, "killed");
  }
  const afterwards = await other.ask<RunResult>({ call: "run", request: { command: "echo again", args: undefined } });
  assert.equal(afterwards.stdout, "again\n");
  await other.close();
});

/** Returns the limit of a process, or null when it has exited. */
function openFilesOf(pid: number): number | null {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, "latin1"))?.[1]);
  } catch {
    return null;
  }
}

test("reports exhausted file descriptors and recovers when there are more", async (t) => {
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  const gateway = await fixture.open();
  const before = await gateway.start({ command: "cat", stdin: "open" });
  const [zygote = 0] = zygotesOf(fixture.state);
  const limit = async (count: number) => {
    execFileSync("prlimit", ["--pid", String(zygote), `--nofile=${count}:4096`]);
    // Idle keepers were forked with the old limit. Only the busy one may keep it.
    await until("all other keepers have the limit", () => {
      const old = childrenOf(zygote).filter(({ pid, state, title }) => {
        return state !== "Z" && !title.startsWith(`keeper: ${before.id}`) && openFilesOf(pid) !== count;
      });
      for (const { pid } of old) send(pid, "SIGKILL");
      return old.length === 0;
    });
  };
  // The zygote's descriptors and one for a connection: too few for the streams of a command.
  const least = readdirSync(`/proc/${zygote}/fd`).length + 1;
  for (const count of [least, least + 2, least + 4]) {
    await limit(count);
    const result = await gateway.run({ command: "true" });
    if (result.status === "completed") continue;
    assert.equal(result.error?.type, "SpawnFailed");
    assert.match(result.error?.message ?? "", /EMFILE/);
    assert.ok(result.error?.recovery.some(({ action }) => action === "increase_limits"));
  }
  await limit(least);
  assert.equal((await gateway.run({ command: "true" })).error?.type, "SpawnFailed", `${least} descriptors were enough`);
  await limit(1024);
  await until("commands run again", async () => (await gateway.run({ command: "true" })).status === "completed");
  await before.write("still here\n");
  await until("the keeper responds", async () => (await before.logs()).text === "still here\n");
  await before.kill();
});

test("a host process that runs out of file descriptors gets errors and survives", async (t) => {
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  const program = fileURLToPath(new URL("../../fixtures/out-of-descriptors.ts", import.meta.url));
  const args = ["--nofile=100", "--", process.execPath, program, fixture.state, fixture.workspace, "2"];
  const said = execFileSync("prlimit", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [ran, ranAgain, read, readAgain, ...others] = JSON.parse(said) as string[];
  assert.deepEqual(
    [ran, ranAgain, read, readAgain],
    ["KeeperUnavailable", "completed", "ResourceLimitExceeded", "kept\n"],
  );
  // A gateway that cannot check a session must not report it as lost.
  assert.deepEqual(others, ["ResourceLimitExceeded", "ResourceLimitExceeded", "running", "killed"]);
});

test("a command inherits the descriptor limit and starts with three descriptors", async (t) => {
  const fixture = new GatewayFixture();
  t.after(() => fixture.close());
  const gateway = await fixture.open();
  const { stdout } = await gateway.run({ command: "ls", args: ["/proc/self/fd"] });
  // Descriptor 3 is the folder that ls reads.
  assert.deepEqual(stdout.trim().split("\n"), ["0", "1", "2", "3"]);
});
