/**
 * Exits that only a gateway can publish. Each appears in the exit stream exactly once, before the session's row records
 * the end.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { unstartedRecord } from "../../../src/executor/execution.ts";
import { openConnection } from "../../../src/fleet/connection.ts";
import { FleetRegistry } from "../../../src/fleet/registry.ts";
import { ensureStores } from "../../../src/fleet/streams.ts";
import type { ExitNotice, RegistryEntry } from "../../../src/fleet/wire.ts";
import { TestFleet } from "../../fixtures/fleet.ts";
import { NO_NATS } from "../../fixtures/nats.ts";
import { until } from "../../fixtures/until.ts";

const skip = NO_NATS;
const DIES_AT = fileURLToPath(new URL("../../fixtures/dies-at.ts", import.meta.url));
let fleet: TestFleet;
let nc: NatsConnection;

before(async () => {
  if (skip) return;
  fleet = await TestFleet.start();
  nc = await connect({ servers: fleet.servers });
  await ensureStores(nc, "main");
});

after(async () => {
  await nc?.close();
  await fleet?.close();
});

/** Runs a gateway that is killed between recording a background session and publishing its job. */
async function recordedOnly(): Promise<void> {
  const { state, workspace, env } = fleet.home;
  const child = spawn(process.execPath, [DIES_AT, state, workspace, "recorded", "background", "echo never"], {
    env: { ...env, DIES_IN_FLEET: fleet.servers },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [, signal] = await once(child, "exit");
  assert.equal(signal, "SIGKILL");
}

/** Returns the exits of a session in the exit stream. */
async function exitsOf(session: string): Promise<ExitNotice[]> {
  const manager = await jetstreamManager(nc);
  const filter = `sp.main.exit.*.*.${session}`;
  const { state } = await manager.streams.info("SP_main_EXITS", { subjects_filter: filter });
  const subjects = Object.entries(state.subjects ?? {});
  return Promise.all(
    subjects.map(async ([last_by_subj, count]) => {
      assert.equal(count, 1);
      const message = await manager.streams.getMessage("SP_main_EXITS", { last_by_subj });
      return message?.json<ExitNotice>() as ExitNotice;
    }),
  );
}

/**
 * Records the end of a session in the registry without publishing its exit, like a worker that is killed in between.
 */
async function enterEnd(session: string): Promise<void> {
  const link = await openConnection({ servers: fleet.servers, as: "gone" }, "worker");
  const account = { status: "completed", warnings: [], hints: [], error: null, logPath: null, lastLines: ["last"] };
  const record = { ...unstartedRecord("exec"), reason: "exited" as const, pid: 7, code: 4 };
  const to = { gateway: "office", process: "p" };
  const about = { version: 1, host: "gone", attempt: 1, to, background: true, atMs: Date.now(), claim: "c" };
  const entry: RegistryEntry = { ...about, state: "ended", record, account };
  assert.notEqual(await new FleetRegistry(link.sessions).create("default", session, entry), null);
  await link.nc.close();
}

test("abandons a session whose job was never published, and publishes its exit", { skip }, async () => {
  await recordedOnly();
  const gateway = await fleet.open({ fleet: { servers: fleet.servers, claimWithinMs: 1 } });
  const [session] = await gateway.list({});
  assert.ok(session);
  await until("the session is abandoned", async () => gateway.session(session.id).info().status !== "running");
  assert.equal(gateway.session(session.id).info().status, "failed");
  const [exit, ...more] = await exitsOf(session.id);
  assert.deepEqual([exit?.session_id, exit?.status, exit?.host, more.length], [session.id, "failed", null, 0]);
  assert.equal(gateway.work.list().filter(({ key }) => key === `exec_callback:${session.id}`).length, 1);
  await gateway.close();
});

test("an exit that cannot be published is published later, by another gateway process if necessary", {
  skip,
}, async () => {
  await recordedOnly();
  const first = await fleet.open();
  const session = (await first.list({ live: true }))[0];
  assert.ok(session);
  await first.close();
  const manager = await jetstreamManager(nc);
  await manager.streams.delete("SP_main_EXITS");
  await enterEnd(session.id);
  const second = await fleet.open();
  assert.equal(second.session(session.id).info().status, "running");
  await second.close();
  const third = await fleet.open();
  assert.equal(third.session(session.id).info().status, "running");
  await ensureStores(nc, "main");
  const ended = await third.session(session.id).wait({ timeoutMs: 60_000 });
  assert.deepEqual([ended.status, ended.exitCode], ["completed", 4]);
  const [exit, ...more] = await exitsOf(session.id);
  assert.deepEqual([exit?.status, exit?.exit_code, exit?.host, exit?.last_lines], ["completed", 4, "gone", ["last"]]);
  assert.equal(more.length, 0);
  await third.close();
});
