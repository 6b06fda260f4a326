import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { nkeys } from "@nats-io/transport-node";
import { joinFleet } from "../../../src/fleet/connection.ts";
import { ensureStores } from "../../../src/fleet/streams.ts";
import { Certificates } from "../../fixtures/certificates.ts";
import { NatsServer, NO_NATS } from "../../fixtures/nats.ts";
import { missing } from "../../fixtures/on-path.ts";

const skip = NO_NATS || missing("openssl");
let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-join-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function fails(type: string, message: RegExp) {
  return (error: Error & { type?: string; recovery?: unknown[] }) => {
    assert.equal(error.type, type);
    assert.match(error.message, message);
    assert.ok((error.recovery?.length ?? 0) > 0);
    return true;
  };
}

test("concurrent members create the streams and buckets of a fleet once", { skip: NO_NATS }, async () => {
  const server = await NatsServer.start();
  try {
    const members = await Promise.all(
      ["a", "b", "c"].map((as) => joinFleet({ servers: server.url, as }, as === "a" ? "gateway" : "worker")),
    );
    const stores = await Promise.all(members.map(({ connection, fleet }) => ensureStores(connection, fleet)));
    await stores[0]?.sessions.create("agent.s1", "mine");
    await assert.rejects(async () => stores[1]?.sessions.create("agent.s1", "mine too"), /wrong last sequence/);
    assert.equal((await stores[2]?.sessions.get("agent.s1"))?.string(), "mine");
    const streams = (await stores[0]?.manager.streams.list().next()) ?? [];
    const names = streams.map(({ config }) => config.name).sort();
    assert.deepEqual(names, [
      "KV_SP_main_PLACES",
      "KV_SP_main_SESSIONS",
      "KV_SP_main_WORKERS",
      "OBJ_SP_main_LOGS",
      "SP_main_EXITS",
      "SP_main_WORK",
    ]);
    for (const { connection } of members) await connection.close();
  } finally {
    await server.close();
  }
});

test("unreachable servers, invalid names and unusable credentials fail with a next step", {
  skip: NO_NATS,
}, async () => {
  await assert.rejects(
    joinFleet({ servers: "nats://127.0.0.1:1" }, "worker"),
    fails("FleetUnreachable", /127.0.0.1:1/),
  );
  await assert.rejects(joinFleet({ servers: "x", name: "a.b" }, "worker"), fails("InvalidRequest", /a\.b/));
  await assert.rejects(joinFleet({ servers: "x", as: "*" }, "worker"), fails("InvalidRequest", /"\*"/));
  const file = join(folder, "bad");
  writeFileSync(file, "SUNOTASEED");
  const given = { servers: "x", credentials: file };
  await assert.rejects(joinFleet(given, "worker"), fails("InvalidConfiguration", /neither a user nkey seed/));
  given.credentials = join(folder, "none");
  await assert.rejects(joinFleet(given, "worker"), fails("InvalidConfiguration", /ENOENT/));
});

test("with TLS, only members with a client certificate and an nkey can connect", { skip }, async () => {
  const certificates = new Certificates();
  const stranger = new Certificates();
  const user = nkeys.createUser();
  const server = await NatsServer.start({
    tls: { ...certificates.issue("server"), verify: true },
    config: `authorization { users: [ { nkey: ${user.getPublicKey()} } ] }`,
  });
  const seed = join(folder, "worker.seed");
  writeFileSync(seed, `${Buffer.from(user.getSeed())}\n`, { mode: 0o600 });
  const own = certificates.issue("worker");
  const all = { servers: server.url, credentials: seed, tls: own };
  try {
    const { connection } = await joinFleet(all, "worker");
    assert.equal(connection.info?.tls_required, true);
    await connection.close();
    const without = (part: object) => joinFleet({ ...all, ...part }, "worker");
    await assert.rejects(without({ credentials: undefined }), fails("FleetUnreachable", /credentials/));
    await assert.rejects(without({ tls: { ...own, ca: stranger.ca } }), fails("FleetUnreachable", /certificate/));
    const other = join(folder, "other.seed");
    writeFileSync(other, Buffer.from(nkeys.createUser().getSeed()));
    await assert.rejects(without({ credentials: other }), fails("FleetUnreachable", /rejected the credentials/));
  } finally {
    await server.close();
    certificates.remove();
    stranger.remove();
  }
});

test("a member that requires TLS does not connect to a server without it", { skip: NO_NATS }, async () => {
  const server = await NatsServer.start();
  try {
    await assert.rejects(joinFleet({ servers: server.url, tls: {} }, "worker"), fails("FleetUnreachable", /tls/i));
  } finally {
    await server.close();
  }
});
