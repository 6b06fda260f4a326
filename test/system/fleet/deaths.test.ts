import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { TestFleet, type WorkerProcess } from "../../fixtures/fleet.ts";
import { NO_NATS } from "../../fixtures/nats.ts";
import { killAndWait } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";

const skip = NO_NATS;
let fleet: TestFleet;

before(async () => {
  if (!skip) fleet = await TestFleet.start();
});

after(() => fleet?.close());

const kill = ({ child }: WorkerProcess) => killAndWait(child);

/** Returns the number of exits of a session in the exit stream. */
async function exitsOf(session: string): Promise<number> {
  const nc = await connect({ servers: fleet.servers });
  try {
    const manager = await jetstreamManager(nc);
    const info = await manager.streams.info("SP_main_EXITS", { subjects_filter: `sp.main.exit.*.*.${session}` });
    return Object.values(info.state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
  } finally {
    await nc.close();
  }
}

test("a worker that is killed and restarted recovers running sessions and those that ended in the meantime", {
  skip,
}, async () => {
  const first = await fleet.workerProcess("w1");
  const gateway = await fleet.open();
  const lasting = await gateway.start({
    command: "echo before; read -r line; echo got $line",
    stdin: "open",
    host: "w1",
  });
  const short = await gateway.start({ command: "sleep 1; echo short; exit 7", host: "w1" });
  const nurse = await fleet.keepAlive("w1");
  await kill(first);
  const second = await fleet.workerProcess("w1", {}, first.fixture);
  await nurse();
  assert.deepEqual([(await short.wait()).exitCode, (await short.logs()).text], [7, "short\n"]);
  await lasting.write("on\n");
  assert.equal((await lasting.wait()).exitCode, 0);
  assert.equal((await lasting.logs()).text, "before\ngot on\n");
  await until(
    "both exits are in the stream",
    async () => (await exitsOf(short.id)) + (await exitsOf(lasting.id)) === 2,
  );
  await gateway.close();
  await kill(second);
});

test("a reopened gateway recovers running and ended sessions, with one callback each", {
  skip,
}, async () => {
  const worker = await fleet.workerProcess("w2");
  const first = await fleet.open();
  const ended = await first.start({ command: "sleep 0.5; echo done", host: "w2" });
  const running = await first.start({ command: "read -r; echo over", stdin: "open", host: "w2" });
  await first.close();
  await until("the exit is in the stream", async () => (await exitsOf(ended.id)) === 1);
  const second = await fleet.open();
  const info = await second.session(ended.id).wait();
  assert.deepEqual([info.status, info.exitCode, info.host], ["completed", 0, "w2"]);
  const again = second.session(running.id);
  assert.equal(again.info().status, "running");
  await again.write("\n");
  assert.equal((await again.wait()).exitCode, 0);
  const told = second.work.list().map(({ payload }) => (payload as { session_id: string }).session_id);
  for (const id of [ended.id, running.id]) assert.equal(told.filter((each) => each === id).length, 1);
  await second.close();
  await kill(worker);
});

test("a session of a lost host gets status lost and a callback, and reruns only if it is idempotent", {
  skip,
}, async () => {
  const worker = await fleet.workerProcess("w3", { labels: { kind: "spare" } });
  const other = await fleet.workerProcess("w4", { labels: { kind: "none" } });
  const gateway = await fleet.open({ fleet: { servers: fleet.servers, as: "office", sticky: false } });
  const lost = await gateway.start({ command: "sleep 1000", labels: { kind: "spare" } });
  const mark = fleet.home.path("ran");
  const twice = await gateway.start({
    command: `echo x >> ${mark}; sleep $(( $(wc -l < ${mark}) == 1 ? 1000 : 0 )); echo second`,
    host: "w3",
    retry: "idempotent",
  });
  await until("the command has started", () => existsSync(mark) && readFileSync(mark, "utf8").length > 0);
  await kill(worker);
  assert.equal((await lost.wait()).status, "lost");
  assert.match(lost.info().error?.message ?? "", /w3/);
  const payloads = gateway.work.list().map(({ payload }) => payload as { session_id: string });
  assert.equal(payloads.filter(({ session_id }) => session_id === lost.id).length, 1);
  assert.equal(await exitsOf(lost.id), 1);

  // The request names w3, so it waits for that host. The restarted worker first kills the leftovers of the old attempt.
  const back = await fleet.workerProcess("w3", { labels: { kind: "spare" } }, worker.fixture);
  const again = await twice.wait({ timeoutMs: 120_000 });
  assert.deepEqual([again.status, again.exitCode], ["completed", 0]);
  assert.equal((await twice.logs()).text, "second\n");
  assert.equal(readFileSync(mark, "utf8"), "x\nx\n");
  // Commands inherit the marker variable from their worker, so the worker itself is counted as well.
  await until("no process of the lost sessions is left", () => worker.fixture.alive().length === 1);
  assert.equal(await exitsOf(lost.id), 1);
  await gateway.close();
  await kill(back);
  await kill(other);
});

test("a NATS server that is killed and restarted loses no output and no exit", { skip }, async () => {
  const worker = await fleet.workerProcess("w5");
  const gateway = await fleet.open();
  const session = await gateway.start({ command: "echo one; sleep 2; echo two", host: "w5" });
  let followed = "";
  const following = (async () => {
    for await (const { bytes } of session.follow()) followed += Buffer.from(bytes).toString();
  })();
  await until("the first line has been received", () => followed === "one\n");
  await fleet.server.kill();
  await fleet.server.start();
  assert.equal((await session.wait()).exitCode, 0);
  assert.equal((await session.logs()).text, "one\ntwo\n");
  await following;
  assert.equal(followed, "one\ntwo\n");
  assert.equal((await gateway.run({ command: "echo after", host: "w5" })).stdout, "after\n");
  await gateway.close();
  await kill(worker);
});
