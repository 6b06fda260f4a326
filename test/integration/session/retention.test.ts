import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, beforeEach, test } from "node:test";
import { newId } from "../../../src/core/id.ts";
import { EXEC_LOG_FOLDER } from "../../../src/session/retention.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());
const NONE = { maxAgeMs: 0, maxCount: 0, maxBytes: 0 };
const HOUR = 3600 * 1000;

beforeEach(async () => {
  for (const { id } of gateway.list({ limit: 1000 })) await gateway.session(id).remove();
});

function ids(): string[] {
  return gateway.list({ limit: 1000 }).map(({ id }) => id);
}

function folders(): string[] {
  return readdirSync(join(fixture.state, "sessions")).sort();
}

function idsOf(results: { id: string }[]): string[] {
  return results.map(({ id }) => id).sort();
}

/** Makes a session look as if it had ended `ms` milliseconds earlier. */
function age(id: string, ms: number): void {
  gateway.session(id).info(); // Flushes queued exits to the database.
  const database = new DatabaseSync(join(fixture.state, "sallyport.db"), { timeout: 20_000 });
  database.prepare("UPDATE sessions SET ended_ms = ended_ms - ? WHERE id = ?").run(ms, id);
  database.close();
}

test("removes sessions that ended too long ago, with their files", async () => {
  const old = await gateway.run({ command: "echo old" });
  const young = await gateway.run({ command: "echo young" });
  age(old.id, 2 * HOUR);
  const { removed } = await gateway.clean({ ...NONE, maxAgeMs: HOUR });
  assert.deepEqual(removed, [old.id]);
  assert.deepEqual(ids(), [young.id]);
  assert.deepEqual(folders(), [young.id]);
  assert.throws(() => gateway.session(old.id), { type: "SessionNotFound" });
  assert.equal((await gateway.session(young.id).logs()).text, "young\n");
});

test("removes the oldest sessions above the maximum number", async () => {
  const results = [];
  for (let i = 0; i < 5; i++) results.push(await gateway.run({ command: `echo ${i}` }));
  const { removed } = await gateway.clean({ ...NONE, maxCount: 2 });
  assert.deepEqual(removed.sort(), idsOf(results.slice(0, 3)));
  assert.deepEqual(folders(), idsOf(results.slice(3)));
});

test("removes the oldest sessions above the size limit and reports the freed bytes", async () => {
  const results = [];
  for (let i = 0; i < 4; i++) results.push(await gateway.run({ command: "head -c 300000 /dev/zero" }));
  const { removed, freedBytes } = await gateway.clean({ ...NONE, maxBytes: 700_000 });
  assert.deepEqual(removed.sort(), idsOf(results.slice(0, 2)));
  assert.equal(freedBytes, 600_000);
});

test("counts sessions for each agent, so that one agent does not displace the sessions of another", async () => {
  const other = gateway.acting({ agent: "flooder", channel: "test" });
  const mine = await gateway.run({ command: "echo mine" });
  const flood = [];
  for (let i = 0; i < 4; i++) flood.push(await other.run({ command: `echo ${i}` }));
  const { removed } = await gateway.clean({ ...NONE, maxCount: 1 });
  assert.deepEqual(removed.sort(), idsOf(flood.slice(0, 3)));
  assert.equal((await gateway.session(mine.id).logs()).text, "mine\n");
});

test("takes space from the agent that uses most", async () => {
  const other = gateway.acting({ agent: "flooder", channel: "test" });
  const mine = await gateway.run({ command: "head -c 200000 /dev/zero" });
  const flood = [];
  for (let i = 0; i < 4; i++) flood.push(await other.run({ command: "head -c 300000 /dev/zero" }));
  const { removed } = await gateway.clean({ ...NONE, maxBytes: 900_000 });
  assert.deepEqual(removed.sort(), idsOf(flood.slice(0, 2)));
  assert.ok(ids().includes(mine.id));
});

test("records the removed sessions of each agent in the audit log", async () => {
  const other = gateway.acting({ agent: "flooder", channel: "test" });
  const mine = await gateway.run({ command: "echo mine" });
  const theirs = await other.run({ command: "echo theirs" });
  for (const { id } of [mine, theirs]) age(id, 2 * HOUR);
  await gateway.clean({ ...NONE, maxAgeMs: HOUR });
  const entries = gateway.audit.search({ kind: "remove", limit: 10 }).filter(({ session }) => session === null);
  for (const { id, agent } of [
    { id: mine.id, agent: "default" },
    { id: theirs.id, agent: "flooder" },
  ]) {
    const entry = entries.find((one) => one.agent === agent && JSON.stringify(one.detail).includes(id));
    assert.match(entry?.summary ?? "", /^removed 1 finished session \(\d+B of logs\)$/, agent);
  }
});

test("counts the size of refused commands in the database", async () => {
  const results = [];
  for (let i = 0; i < 4; i++) results.push(await gateway.run({ command: `rm -rf / # ${"x".repeat(100_000)}` }));
  const { removed } = await gateway.clean({ ...NONE, maxBytes: 250_000 });
  assert.deepEqual(removed.sort(), idsOf(results.slice(0, 2)));
});

test("does not count bytes dropped for the disk cap", async () => {
  const { id } = await gateway.run({ command: "head -c 3000000 /dev/zero", diskCap: 65_536 });
  const { removed } = await gateway.clean({ ...NONE, maxBytes: 500_000 });
  assert.deepEqual(removed, []);
  assert.ok(ids().includes(id));
});

test("a retention of 0 means no limit", async () => {
  const { id } = await gateway.run({ command: "true" });
  age(id, 1000 * HOUR);
  assert.deepEqual((await gateway.clean(NONE)).removed, []);
  assert.ok(ids().includes(id));
});

test("never removes a running or lingering session", async () => {
  const running = await gateway.start({ command: "head -c 2000000 /dev/zero; sleep 60" });
  const lingering = await gateway.start({ command: "sleep 60 & echo done" });
  await lingering.wait();
  age(running.id, 1000 * HOUR);
  age(lingering.id, 1000 * HOUR);
  const { removed } = await gateway.clean({ maxAgeMs: 1, maxCount: 1, maxBytes: 1 });
  assert.deepEqual(removed, []);
  assert.equal(running.info().status, "running");
  assert.equal(lingering.info().lingering, true);
  assert.equal((await lingering.logs()).text, "done\n");
  await assert.rejects(running.remove(), { type: "StillRunning" });
  await running.kill({ graceMs: 0 });
  await lingering.kill({ graceMs: 0 });
});

test("removes a folder without a row once it is old and its command has ended", async () => {
  const sessions = join(fixture.state, "sessions");
  const record = (await gateway.run({ command: "true" })).id;
  const [finished, recent, unfinished, live] = [newId(), newId(), newId(), newId()];
  for (const id of [finished, recent, unfinished, live]) mkdirSync(join(sessions, id));
  for (const id of [finished, recent]) copyFileSync(join(sessions, record, "exit"), join(sessions, id, "exit"));
  writeFileSync(join(sessions, live, "ctl"), "");
  mkdirSync(join(sessions, "not-an-id"));
  const long = new Date(Date.now() - 3 * HOUR);
  for (const id of [finished, unfinished, live, "not-an-id"]) utimesSync(join(sessions, id), long, long);
  await gateway.clean(NONE);
  assert.equal(existsSync(join(sessions, finished)), false, "an old stray folder was kept");
  assert.equal(existsSync(join(sessions, unfinished)), false, "the remains of an interrupted removal were kept");
  assert.equal(existsSync(join(sessions, live)), true, "a folder that a keeper may still use was removed");
  assert.equal(
    existsSync(join(sessions, recent)),
    true,
    "a new folder, which may belong to a command that is being launched, was removed",
  );
  assert.equal(existsSync(join(sessions, "not-an-id")), true, "another folder was removed");
  assert.equal(existsSync(join(sessions, record)), true);
});

test("a new gateway removes sessions according to its own retention when a cleanup is due", async () => {
  const { id } = await gateway.run({ command: "true" });
  gateway.session(id).info(); // Flushes the queued exit to the database before its time is changed.
  age(id, 100 * HOUR);
  utimesSync(join(fixture.state, "cleaned"), new Date(0), new Date(0));
  await fixture.open({ retention: { maxAgeMs: HOUR } });
  assert.ok(!ids().includes(id));
});

test("an invalid retention does not remove everything", async () => {
  const { id } = await gateway.run({ command: "true" });
  for (const wrong of [Number.NaN, undefined, -1]) {
    await gateway.clean({ maxAgeMs: wrong as number, maxCount: wrong as number, maxBytes: wrong as number });
  }
  assert.ok(ids().includes(id));
});

test("removing a session removes its files; removing it again fails", async () => {
  for (let i = 0; i < 50; i++) {
    const { id } = await gateway.run({ command: "echo bye" });
    await gateway.session(id).remove();
    assert.equal(existsSync(fixture.sessionFolder(id)), false);
  }
  const session = await gateway.start({ command: "true" });
  await session.wait();
  await session.remove();
  await assert.rejects(session.remove(), { type: "SessionNotFound" });
  assert.throws(() => session.info(), { type: "SessionNotFound" });
  await assert.rejects(session.wait(), { type: "SessionNotFound" });
});

test("refused commands never displace sessions that ran", async () => {
  const { id } = await gateway.run({ command: "echo kept" });
  for (let attempt = 0; attempt < 20; attempt++) await gateway.run({ command: "rm -rf /" });
  await gateway.clean({ maxCount: 5 });
  assert.ok(ids().includes(id));
});

test("cleaning many sessions yields to the event loop and reports progress", async () => {
  const count = 120;
  const runs = await Promise.all(Array.from({ length: count }, () => gateway.run({ command: "true" })));
  const heard: [number, number][] = [];
  let turns = 0;
  const turn = () => {
    turns++;
    again = setImmediate(turn);
  };
  let again = setImmediate(turn);
  const { removed } = await gateway.clean({ ...NONE, maxCount: 1 }, (done, total) => heard.push([done, total]));
  clearImmediate(again);
  assert.equal(removed.length, runs.length - 1);
  assert.deepEqual(heard, [
    [50, count - 1],
    [100, count - 1],
  ]);
  assert.ok(turns >= heard.length);
});

test("removes the plain log of the exec toolset with its session, and keeps a log file that the agent chose", async () => {
  const logs = EXEC_LOG_FOLDER;
  const [removed, cleaned] = [
    await gateway.run({ command: "echo one" }, { logFolder: logs }),
    await gateway.run({ command: "echo two" }, { logFolder: logs }),
  ];
  const chosen = await gateway.run({ command: "echo three", logFile: "chosen.log" });
  const logOf = ({ id }: { id: string }) => join(fixture.workspace, logs, `${id}.log`);
  assert.ok(existsSync(logOf(removed)) && existsSync(logOf(cleaned)));
  await gateway.session(removed.id).remove();
  assert.deepEqual([existsSync(logOf(removed)), existsSync(logOf(cleaned))], [false, true]);
  age(cleaned.id, 2 * HOUR);
  age(chosen.id, 2 * HOUR);
  await gateway.clean({ ...NONE, maxAgeMs: HOUR });
  assert.deepEqual([existsSync(logOf(cleaned)), existsSync(join(fixture.workspace, "chosen.log"))], [false, true]);
});
