import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import type { SallyportError } from "../../../src/core/error.ts";
import type { SessionHandle } from "../../../src/core/gateway.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";

const MIB = 1 << 20;
const fixture = new GatewayFixture(mkdtempSync(join(tmpdir(), "sallyport-small-")));
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs", fixture.state]);
const skip = mounted.status === 0 ? false : "a small file system can only be mounted by root";
const ballast = join(fixture.state, "ballast");
const GO = fixture.path("go");
const WAIT = `until [ -e ${GO} ]; do sleep 0.01; done`;
let gateway: Gateway;

before(async () => {
  if (!skip) gateway = await fixture.open();
});

after(async () => {
  rmSync(ballast, { force: true });
  await fixture.close().finally(() => {
    if (!skip) execFileSync("umount", ["-l", fixture.state]);
    rmSync(fixture.state, { recursive: true });
  });
});

function free(): number {
  const { bavail, bsize } = statfsSync(fixture.state);
  return Number(bavail) * Number(bsize);
}

function fill(): void {
  rmSync(ballast, { force: true });
  writeFileSync(ballast, Buffer.alloc(free()));
}

/** Reports whether the exit could not be stored for lack of space. */
function isUnmarked(id: string): boolean {
  const database = new DatabaseSync(join(fixture.state, "sallyport.db"), { readOnly: true });
  const row = database.prepare("SELECT status FROM sessions WHERE id = ?").get(id);
  database.close();
  return row?.status === "running";
}

/** Removes files and waits for free space: a removed file uses space until the last keeper has closed it. */
async function empty(...paths: string[]): Promise<void> {
  for (const path of [ballast, ...paths]) rmSync(path, { force: true });
  await until("the disk has free space again", () => free() > MIB);
}

test("on a full disk the command runs, and lost output is counted", { skip }, async () => {
  const written = 12 * MIB;
  for (const capture of ["apart", "merged"] as const) {
    const command = `head -c ${written} /dev/zero | tr '\\0' x; echo after >&2; exit 7`;
    const result = await gateway.run({ command, diskCap: 0, capture });
    assert.deepEqual([result.status, result.exitCode], ["completed", 7]);
    assert.ok(
      result.warnings.some((warning) => /could not be written to disk/.test(warning)),
      `${result.warnings}`,
    );
    await empty(join(fixture.sessionFolder(result.id), capture === "apart" ? "stdout" : "output"));
    const info = gateway.session(result.id).info();
    assert.deepEqual([info.status, info.exitCode], ["completed", 7]);
    const stream = capture === "apart" ? info.streams.stdout : info.streams.output;
    const all = capture === "apart" ? written : written + 6;
    assert.ok(stream && stream.lost > 0);
    assert.equal(stream.bytes + stream.lost, all);
    assert.deepEqual(info.warnings, result.warnings);
  }
});

test("sessions can be listed, read and killed while the disk is full", { skip }, async () => {
  const session = await gateway.start({ command: "echo up; sleep 60", name: "on-full-disk" });
  await until("the command is running", async () => (await session.logs()).text === "up\n");
  const short = await gateway.start({ command: "sleep 0.2; exit 3", name: "ends-on-full-disk" });
  fill();
  const ended = await short.wait();
  assert.deepEqual([ended.status, ended.exitCode], ["completed", 3]);
  assert.ok(gateway.list().length >= 2);
  assert.equal((await session.logs()).text, "up\n");
  assert.equal((await session.kill()).status, "killed");
  await empty();
  const other = await fixture.open();
  assert.equal(other.session("on-full-disk").info().status, "killed");
  assert.equal(other.session("ends-on-full-disk").info().exitCode, 3);
});

test("rejects a command that cannot be recorded, and runs later ones", { skip }, async () => {
  fill();
  const outcomes = new Set<string>();
  for (let i = 0; i < 60; i++) {
    const type = await gateway.run({ command: "true", intent: "x".repeat(4000) }).then(
      (result) => result.error?.type ?? result.status,
      (error: SallyportError) => {
        assert.equal(error.name, "SallyportError", `${error.stack}`);
        assert.ok(error.recovery.some(({ action }) => action === "free_space" || action === "fix_state"));
        return error.type;
      },
    );
    outcomes.add(type);
  }
  for (const type of outcomes) assert.ok(["completed", "SpawnFailed", "StateUnusable"].includes(type), type);
  assert.ok(outcomes.has("StateUnusable") || outcomes.has("SpawnFailed"), [...outcomes].join());
  await empty();
  assert.equal((await gateway.run({ command: "echo space again" })).stdout, "space again\n");
});

test("opening a gateway on a full disk works or reports the cause", { skip }, async () => {
  fill();
  const opened = await fixture.open().then(
    () => "open",
    (error: SallyportError) => {
      assert.equal(error.name, "SallyportError", `${error.stack}`);
      return error.type;
    },
  );
  assert.ok(["open", "StateUnusable"].includes(opened), opened);
  await empty();
});

test("cleaning frees space on a full disk, even when keepers close the files later", {
  skip,
}, async () => {
  const held: number[] = [];
  for (let i = 0; i < 4; i++) {
    const { id } = await gateway.run({ command: `head -c ${MIB} /dev/zero` });
    held.push(openSync(join(fixture.sessionFolder(id), "stdout"), "r"));
  }
  fill();
  setTimeout(() => held.forEach(closeSync), 300);
  const { removed, freedBytes } = await gateway.clean({ maxCount: 1 });
  assert.ok(removed.length > 3 && freedBytes >= 3 * MIB);
  await empty();
});

/** Starts a session that writes 2 MiB and waits, so that the disk can be filled before it exits. */
function filling(name: string): Promise<SessionHandle> {
  return gateway.start({ command: `head -c ${2 * MIB} /dev/zero; ${WAIT}; exit 3`, name });
}

test("a session that cannot be removed from a full disk keeps its exit state", { skip }, async () => {
  const session = await filling("stuck");
  await until("all output is written", () => (session.info().streams.stdout?.bytes ?? 0) === 2 * MIB);
  // An open descriptor keeps the disk space of the file in use after its removal.
  const log = openSync(join(fixture.sessionFolder(session.id), "stdout"), "r");
  fill();
  writeFileSync(GO, "");
  await session.wait();
  assert.ok(isUnmarked(session.id));
  await assert.rejects(session.remove(), { type: "StateUnusable", message: /disk is full/ });
  const look = () => [session.info().status, session.info().exitCode];
  assert.deepEqual(look(), ["completed", 3]);
  closeSync(log);
  await empty();
  assert.deepEqual(look(), ["completed", 3]);
  await session.remove();
  assert.ok(!existsSync(fixture.sessionFolder(session.id)));
  rmSync(GO);
});

test("a session that filled the disk can be removed by name and by cleaning", { skip }, async () => {
  for (const remove of [
    (name: string) => gateway.session(name).remove(),
    () => gateway.clean({ maxCount: 1 }).then(({ removed }) => assert.ok(removed.length > 0)),
  ]) {
    const session = await filling("filler");
    const newer = await gateway.start({ command: WAIT, name: "newer" });
    await until("all output is written", () => (session.info().streams.stdout?.bytes ?? 0) === 2 * MIB);
    fill();
    writeFileSync(GO, "");
    await session.wait();
    await newer.wait();
    assert.ok(isUnmarked(session.id));
    await remove("filler");
    await until("the disk has free space again", () => free() > MIB);
    assert.throws(() => gateway.session("filler").info(), { type: "SessionNotFound" });
    await empty();
    await newer.remove();
    rmSync(GO);
  }
});

test("a gateway with a configuration file opens on a full disk, and records the file later", { skip }, async () => {
  const configuration = fixture.path("operator.json");
  writeFileSync(configuration, "{}");
  const done = await gateway.run({ command: `head -c ${2 * MIB} /dev/zero` });
  fill();
  const second = await fixture.open({ configuration });
  await second.session(done.id).remove();
  await empty();
  const loaded = () => second.audit.search({ kind: "config" }).length;
  assert.equal(loaded(), 0);
  assert.equal((await second.run({ command: "echo again" })).stdout, "again\n");
  assert.equal(loaded(), 1);
});
