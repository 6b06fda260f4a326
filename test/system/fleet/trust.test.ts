/** End-to-end tests of signed approvals: real gateways and workers, and a server that is not trusted. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { joinFleet } from "../../../src/fleet/connection.ts";
import { Nodes } from "../../../src/fleet/nodes.ts";
import { ensureStores } from "../../../src/fleet/streams.ts";
import { storeNames } from "../../../src/fleet/subjects.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { AuditLog } from "../../../src/storage/audit.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { TestFleet } from "../../fixtures/fleet.ts";
import type { GatewayFixture } from "../../fixtures/gateway.ts";
import { NatsServer, NO_NATS } from "../../fixtures/nats.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const skip = NO_NATS;
const ASKING = { ask: "always", security: "full", sandbox: "off", scope: "anywhere" } as const;

function auditOf({ state }: GatewayFixture): string {
  const database = openDatabase(join(state, "sallyport.db"));
  try {
    return JSON.stringify(new AuditLog(database).tail(100));
  } finally {
    database.close();
  }
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function asking(options: { trusting: boolean; policy?: object }) {
  const fleet = await TestFleet.start();
  cleanups.push(() => fleet.close());
  const fixture = fleet.fixture(options);
  const worker = await fleet.worker("h1", { policy: ASKING }, fixture);
  const gateway: Gateway = await fleet.open({ policy: { ...ASKING, ...options.policy } });
  return { fleet, fixture, worker, gateway };
}

test("an approval on a trusted gateway is valid on the worker, and both audit the approval", { skip }, async () => {
  const { fixture, gateway, fleet } = await asking({ trusting: true });
  const { status, stdout } = await gateway.run({ command: "echo asked" });
  assert.deepEqual([status, stdout], ["completed", "asked\n"]);
  assert.match(auditOf(fleet.home), /"approved"/);
  assert.match(auditOf(fixture), /"office"/);
  assert.match(auditOf(fixture), /tester/);
});

test("a command without an approval from a trusted gateway is denied, and both sides audit the denial", {
  skip,
}, async () => {
  const stranger = await asking({ trusting: false });
  const refused = await stranger.gateway.run({ command: "echo never" });
  assert.deepEqual([refused.status, refused.error?.type, refused.stdout], ["denied", "StatementRefused", ""]);
  assert.match(refused.error?.message ?? "", /this worker does not trust/);

  const silent = await asking({ trusting: true, policy: { ask: "off" } });
  const unsigned = await silent.gateway.run({ command: "echo never" });
  assert.match(unsigned.error?.message ?? "", /has no attestation/);
  for (const { fixture, fleet } of [stranger, silent]) {
    assert.match(auditOf(fixture), /StatementRefused|attestation/);
    await until("the gateway has audited the denial", () => /denied/.test(auditOf(fleet.home)));
  }
});

test("a request that is altered in transit does not run", { skip }, async () => {
  const { fleet, fixture, worker, gateway } = await asking({ trusting: true });
  const nodes = new Nodes(worker.connection);
  await nodes.drain("h1");
  const running = gateway.run({ command: "echo approved" });
  // The operator of the server can alter queued messages.
  const connection = await connect({ servers: fleet.servers });
  const manager = await jetstreamManager(connection);
  const { work: stream } = storeNames("main");
  await until("the job is in the queue", async () => (await manager.streams.info(stream)).state.messages === 1);
  const message = await manager.streams.getMessage(stream, {
    seq: (await manager.streams.info(stream)).state.last_seq,
  });
  assert.ok(message);
  const sent = JSON.parse(message.string()) as { request: { command: string } };
  await manager.streams.deleteMessage(stream, message.seq);
  const altered = { ...sent, request: { ...sent.request, command: "echo altered" } };
  await jetstream(connection).publish(message.subject, JSON.stringify(altered));
  await connection.close();
  await nodes.return("h1");
  const { status, error, stdout } = await running;
  assert.deepEqual([status, error?.type, stdout], ["denied", "StatementRefused", ""]);
  assert.match(error?.message ?? "", /belongs to another request/);
  assert.match(auditOf(fixture), /belongs to another request/);
});

test("an approval does not override a rule of the worker", { skip }, async () => {
  const { gateway } = await asking({ trusting: true, policy: { allowDenied: ["privilege"] } });
  const { status, stdout } = await gateway.run({ command: "sudo echo root" });
  assert.deepEqual([status, stdout], ["denied", ""]);
});

let folder: string;
let server: NatsServer;
before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), "sallyport-members-"));
  const box = new Sandbox();
  const print = async (...members: string[]) => {
    const printed = await box.run(["fleet", "permissions", "--keys", folder, ...members]);
    assert.equal(printed.code, 0, printed.stderr);
    return printed.stdout;
  };
  const limited = await print("--gateway", "laptop", "--agent", "team/b");
  const users = limited.slice(limited.indexOf("users: [") + "users: [".length, limited.lastIndexOf("]"));
  const others = await print("--gateway", "office", "--worker", "h1", "--labels", "gpu=yes");
  box.remove();
  server = await NatsServer.start({ config: others.replace("users: [", `users: [${users}`) });
});
after(async () => {
  if (skip) return;
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the printed permissions suffice for real gateways and workers", { skip }, async () => {
  const fleet = TestFleet.on(server.url);
  cleanups.push(() => fleet.close());
  const as = (kind: string, name: string) => ({
    servers: server.url,
    as: name,
    credentials: join(folder, `${kind}-${name}.seed`),
  });
  // Creates the streams like `fleet setup`, because a worker has no permission to create them.
  const { connection } = await joinFleet(as("gateway", "office"), "gateway");
  await ensureStores(connection, "main");
  await connection.close();
  const gateway = await fleet.open({ fleet: as("gateway", "office") });
  await fleet.worker("h1", { fleet: as("worker", "h1"), labels: { gpu: "yes" }, shipLogs: true });
  const limited = await fleet.open({ fleet: as("gateway", "laptop"), agent: "team/b" });
  for (const each of [gateway, limited]) {
    assert.equal((await each.run({ command: "echo any" })).stdout, "any\n");
    assert.equal((await each.run({ command: "echo host", host: "h1" })).stdout, "host\n");
    assert.equal((await each.run({ command: "echo label", labels: { gpu: "yes" } })).stdout, "label\n");
    const session = await each.start({ command: "echo first; read line; echo $line", stdin: "open" });
    await session.write("typed\n");
    let followed = "";
    for await (const { bytes } of session.follow()) followed += Buffer.from(bytes).toString();
    assert.equal(followed, "first\ntyped\n");
    assert.equal((await session.wait()).status, "completed");
    const endless = await each.start({ command: "sleep 600" });
    await endless.kill();
    assert.equal((await endless.wait()).status, "killed");
    await assert.rejects(async () => each.session(session.id).write("x"));
  }
  // The servers prevent a gateway that is limited to one agent from acting for another.
  const other = await fleet.open({ fleet: { ...as("gateway", "laptop"), claimWithinMs: 2000 }, agent: "somebody" });
  const { status } = await other.run({ command: "echo never" });
  assert.notEqual(status, "completed");
  const refused = server.log.split("\n").filter((line) => line.includes("Violation"));
  assert.deepEqual(
    refused.filter((line) => !line.includes("somebody")),
    [],
  );
  assert.ok(refused.length > 0);
});
