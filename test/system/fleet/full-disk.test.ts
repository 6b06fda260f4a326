/** The effect of a full disk on a worker's claims and a gateway's rows. Writes to /dev/full always fail with ENOSPC. */
import assert from "node:assert/strict";
import { appendFileSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openConnection } from "../../../src/fleet/connection.ts";
import { FleetExecutor } from "../../../src/fleet/executor.ts";
import { Nodes } from "../../../src/fleet/nodes.ts";
import { TestFleet } from "../../fixtures/fleet.ts";
import { NO_NATS } from "../../fixtures/nats.ts";
import { until } from "../../fixtures/until.ts";

const skip = NO_NATS;
let fleet: TestFleet;

before(async () => {
  if (!skip) fleet = await TestFleet.start();
});

after(() => fleet?.close());

test("a claim that was truncated by a full disk does not damage the others", { skip }, async () => {
  const fixture = fleet.fixture();
  const file = join(fixture.state, "fleet", "claims");
  const first = await fleet.worker("h0", {}, fixture);
  const gateway = await fleet.open({ fleet: { servers: fleet.servers, as: "office", sticky: false } });
  const start = () => gateway.start({ command: "sleep 1000", host: "h0" });
  const before = await start();
  await until("the session has a host", () => before.info().host === "h0");
  appendFileSync(file, '{"took":{"id":"01');
  const after = await start();
  await until("the session has a host", () => after.info().host === "h0");
  await first.close();
  const second = await fleet.worker("h0", {}, fixture);
  const recovered = readFileSync(file, "utf8").trim().split("\n");
  assert.deepEqual(
    recovered.map((line) => JSON.parse(line).took.id),
    [before.id, after.id],
  );
  for (const session of [before, after]) {
    await session.kill();
    assert.equal((await session.wait()).status, "killed");
  }
  await second.close();
});

test("a worker that cannot store claims reports the error and leaves jobs to other workers", { skip }, async () => {
  const fixture = fleet.fixture();
  const file = join(fixture.state, "fleet", "claims");
  await fleet.worker("h1", {}, fixture);
  rmSync(file, { force: true });
  symlinkSync("/dev/full", file);
  const gateway = await fleet.open({ fleet: { servers: fleet.servers, as: "office", sticky: false } });
  const link = await openConnection({ servers: fleet.servers, as: "operator" }, "gateway");
  const nodes = new Nodes(link);
  const trouble = async () => (await nodes.list()).find(({ host }) => host === "h1")?.trouble;
  try {
    const running = gateway.run({ command: "echo once" });
    await until("the worker reports the error", async () => /ENOSPC/.test((await trouble()) ?? ""));
    await fleet.worker("h2");
    const result = await running;
    assert.deepEqual([result.status, result.stdout], ["completed", "once\n"]);
    assert.equal(gateway.session(result.id).info().host, "h2");
    rmSync(file);
    await until("the worker accepts jobs again", async () => (await trouble()) === null);
    assert.equal(readFileSync(file, "utf8"), "", "the file is empty again after the test write");
    assert.equal((await gateway.run({ command: "echo again", host: "h1" })).stdout, "again\n");
  } finally {
    await link.nc.close();
  }
});

test("the exit of a session can be looked up until the session is removed, because its row may be updated late", {
  skip,
}, async () => {
  const gateway = await fleet.open();
  const { id } = await gateway.run({ command: "true" });
  const row = { id, name: "x", agent: "default", keeper_pid: 1, created_ms: Date.now(), background: 0, lingering: 0 };
  const executor = new FleetExecutor(fleet.home.state, { servers: fleet.servers, as: "office" });
  try {
    await until("the end of the session is in the registry", async () => {
      await executor.refresh(() => [row]);
      return executor.lookUpExit(row) !== null;
    });
    assert.notEqual(executor.lookUpExit(row), null);
    executor.remove(id);
    assert.equal(executor.lookUpExit(row), null);
  } finally {
    await executor.close();
  }
});
