import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Objm } from "@nats-io/obj";
import { newId } from "../../../src/core/id.ts";
import { openConnection } from "../../../src/fleet/connection.ts";
import { FleetRegistry } from "../../../src/fleet/registry.ts";
import { sessionKey } from "../../../src/fleet/subjects.ts";
import type { Worker } from "../../../src/worker/worker.ts";
import { TestFleet } from "../../fixtures/fleet.ts";
import { NO_NATS } from "../../fixtures/nats.ts";
import { killAndWait } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";

const skip = NO_NATS;
let fleet: TestFleet;
let wary: Worker;

before(async () => {
  if (skip) return;
  fleet = await TestFleet.start();
  const policy = {
    sandbox: "off" as const,
    rules: [{ prefix: ["date"], decision: "deny" as const, message: "No dates here." }],
  };
  wary = await fleet.worker("wary", { policy }, fleet.fixture({ trusting: false }));
});

after(() => fleet?.close());

/** Returns the audit entries of a session on a worker. */
function auditOf(worker: Worker, session: string): string[] {
  return worker.gateway.audit.search({ session }).map(({ kind, outcome }) => `${kind} ${outcome}`);
}

test("a worker denies commands that its own rules deny, even if the gateway allows them", { skip }, async () => {
  const gateway = await fleet.open();
  const result = await gateway.run({ command: "date" });
  assert.deepEqual([result.status, result.error?.type], ["denied", "CommandDenied"]);
  assert.match(result.error?.message ?? "", /No dates here/);
  assert.equal(gateway.session(result.id).info().status, "denied");
  assert.deepEqual(auditOf(wary, result.id), ["run denied"]);
});

test("a worker denies a command approved by an untrusted gateway, and both audit the denial", { skip }, async () => {
  const gateway = await fleet.open();
  const result = await gateway.run({ command: 'eval "$(echo echo hidden)"' });
  assert.deepEqual([result.status, result.error?.type, result.stdout], ["denied", "StatementRefused", ""]);
  assert.deepEqual(auditOf(wary, result.id), ["run denied"]);
  const here = gateway.audit.search({ session: result.id }).map(({ kind, outcome }) => `${kind} ${outcome}`);
  assert.deepEqual(here.sort(), ["approval used", "exit denied", "run approved"]);
});

test("a job of another protocol version fails with an error that names both versions", { skip }, async () => {
  const link = await openConnection({ servers: fleet.servers, as: "newer" }, "gateway");
  try {
    const id = newId();
    const work = { version: 99, id, attempt: 1, agent: "default", to: { gateway: "newer", process: "p" }, more: true };
    await link.js.publish(link.subjects.work("any", "default"), JSON.stringify(work), { msgID: id });
    const book = new FleetRegistry(link.sessions);
    await until("the error is recorded", async () => (await book.read("default", id))?.entry.state === "ended");
    const error = (await book.read("default", id))?.entry.account?.error;
    assert.equal(error?.type, "FleetVersion");
    assert.match(error?.message ?? "", /version 99.*supports version 1/);
    assert.match(error?.recovery[0]?.hint ?? "", /the worker on `wary`/);
  } finally {
    await link.nc.close();
  }
});

test("rejects a job whose agent differs from the agent in its subject", { skip }, async () => {
  const link = await openConnection({ servers: fleet.servers, as: "liar" }, "gateway");
  try {
    const id = newId();
    const work = { version: 1, id, attempt: 1, agent: "somebody", to: { gateway: "liar", process: "p" } };
    await link.js.publish(link.subjects.work("any", "default"), JSON.stringify(work), { msgID: id });
    await until("the rejection is audited", () => auditOf(wary, id).includes("fleet refused"));
    assert.equal(await new FleetRegistry(link.sessions).read("somebody", id), null);
  } finally {
    await link.nc.close();
  }
});

test("archived logs remain readable after their host is lost", { skip }, async () => {
  const worker = await fleet.workerProcess("mortal", { shipLogs: true });
  const gateway = await fleet.open();
  const session = await gateway.start({ command: "echo kept; echo too >&2", host: "mortal" });
  await session.wait();
  const link = await openConnection({ servers: fleet.servers, as: "looker" }, "gateway");
  try {
    const store = await new Objm(link.js).open(link.stores.logs);
    const [first, last] = ["stdout", "exit"].map((name) => `${sessionKey("default", session.id)}.${name}`);
    const isWhole = async () => (await store.info(last as string))?.metadata?.ranges !== undefined;
    await until("the logs are archived", isWhole, 60_000);
    await killAndWait(worker.child);
    await until("the host has no heartbeat", async () => (await link.workers.get("mortal")) === null, 60_000);
    // An incomplete archive is not read, because its output would appear to end early.
    const exit = (await store.getBlob(last as string)) as Uint8Array;
    const info = await store.info(last as string);
    await store.delete(last as string);
    await assert.rejects(async () => session.logs({ stream: "stdout" }), { type: "HostSilent" });
    assert.notEqual(await store.info(first as string), null);
    await store.putBlob({ name: last as string, metadata: info?.metadata ?? {} }, exit);
    assert.equal((await session.logs({ stream: "stdout" })).text, "kept\n");
    assert.equal((await session.logs({ stream: "stderr" })).text, "too\n");
  } finally {
    await link.nc.close();
  }
});
