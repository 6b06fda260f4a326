/** What a full disk does to a worker's notes and to a gateway's rows. /dev/full is one that is always full. */
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { newId } from "../../../src/core/id.ts";
import { openConnection } from "../../../src/fleet/connection.ts";
import { FleetExecutor } from "../../../src/fleet/executor.ts";
import { Nodes } from "../../../src/fleet/nodes.ts";
import { type Claim, Claims } from "../../../src/worker/claims.ts";
import { TestFleet } from "../../fixtures/fleet.ts";
import { NO_NATS } from "../../fixtures/nats.ts";
import { until } from "../../fixtures/until.ts";

const skip = NO_NATS;
let fleet: TestFleet;

before(async () => {
  if (!skip) fleet = await TestFleet.start();
});

after(() => fleet?.close());

function claim(): Claim {
  const id = newId();
  const to = { gateway: "office", process: "p" };
  const entry = {
    version: 1,
    state: "claimed" as const,
    host: "h1",
    attempt: 1,
    to,
    background: false,
    atMs: 1,
    claim: "c",
  };
  return { id, agent: "a", local: id, entry, revision: 1 };
}

test("a line that was cut off takes no other along", () => {
  const state = mkdtempSync(join(tmpdir(), "sallyport-claims-"));
  try {
    const claims = new Claims(state);
    const [first, second] = [claim(), claim()];
    claims.took(first);
    appendFileSync(join(state, "fleet", "claims"), '{"took":{"id":"01');
    claims.took(second);
    claims.close();
    assert.deepEqual(
      new Claims(state).load().map(({ id }) => id),
      [first.id, second.id],
    );
  } finally {
    rmSync(state, { recursive: true });
  }
});

test("what cannot be noted is not taken, until there is room again", () => {
  const state = mkdtempSync(join(tmpdir(), "sallyport-claims-"));
  const file = join(state, "fleet", "claims");
  try {
    const claims = new Claims(state);
    symlinkSync("/dev/full", file);
    assert.throws(() => claims.took(claim()), { code: "ENOSPC" });
    assert.match(claims.trouble ?? "", /ENOSPC/);
    assert.equal(claims.recheck(), false);
    rmSync(file);
    assert.equal(claims.recheck(), true);
    assert.deepEqual([claims.trouble, readFileSync(file, "utf8")], [null, ""]);
    claims.took(claim());
    assert.equal(claims.load().length, 1);
  } finally {
    rmSync(state, { recursive: true });
  }
});

test("a worker that cannot note what it takes says so, takes nothing, and leaves it to others", { skip }, async () => {
  const house = fleet.house();
  const file = join(house.state, "fleet", "claims");
  await fleet.worker("h1", {}, house);
  rmSync(file, { force: true });
  symlinkSync("/dev/full", file);
  const gateway = await fleet.open({ fleet: { servers: fleet.servers, as: "office", sticky: false } });
  const link = await openConnection({ servers: fleet.servers, as: "operator" }, "gateway");
  const nodes = new Nodes(link);
  const trouble = async () => (await nodes.list()).find(({ host }) => host === "h1")?.trouble;
  try {
    const running = gateway.run({ command: "echo once" });
    await until("it says so", async () => /ENOSPC/.test((await trouble()) ?? ""));
    await fleet.worker("h2");
    const result = await running;
    assert.deepEqual([result.status, result.stdout], ["completed", "once\n"]);
    assert.equal(gateway.session(result.id).info().host, "h2");
    rmSync(file);
    await until("it takes work again", async () => (await trouble()) === null);
    assert.equal((await gateway.run({ command: "echo again", host: "h1" })).stdout, "again\n");
  } finally {
    await link.nc.close();
  }
});

test("what became of a session is told as often as it is asked for: its row may not be marked yet", {
  skip,
}, async () => {
  const gateway = await fleet.open();
  const { id } = await gateway.run({ command: "true" });
  const row = { id, name: "x", agent: "default", keeper_pid: 1, created_ms: Date.now(), background: 0, lingering: 0 };
  const executor = new FleetExecutor(fleet.home.state, { servers: fleet.servers, as: "office" });
  try {
    await until("its end is in the registry", async () => {
      await executor.learn(() => [row]);
      return executor.fate(row) !== null;
    });
    assert.notEqual(executor.fate(row), null);
    executor.remove(id);
    assert.equal(executor.fate(row), null);
  } finally {
    await executor.close();
  }
});
