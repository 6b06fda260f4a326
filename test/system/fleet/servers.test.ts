import assert from "node:assert/strict";
import { test } from "node:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, nkeyAuthenticator, nkeys } from "@nats-io/transport-node";
import { Certificates } from "../../fixtures/certificates.ts";
import { NatsServer, NO_NATS } from "../../fixtures/nats.ts";
import { missing } from "../../fixtures/on-path.ts";
import { until } from "../../fixtures/until.ts";

test("the NATS fixture keeps its streams and its port across kill -9", { skip: NO_NATS }, async () => {
  const server = await NatsServer.start();
  try {
    const client = await connect({ servers: server.url, reconnectTimeWait: 50 });
    const manager = await jetstreamManager(client);
    await manager.streams.add({ name: "KEPT", subjects: ["kept.>"] });
    await jetstream(client).publish("kept.a", "one");
    const before = server.pid;
    await server.kill();
    await server.start();
    assert.notEqual(server.pid, before);
    await until("the client has reconnected", async () => (await client.flush().catch(() => "gone")) === undefined);
    assert.equal((await (await jetstreamManager(client)).streams.info("KEPT")).state.messages, 1);
    await client.close();
  } finally {
    await server.close();
  }
});

const noTls = NO_NATS || missing("openssl");
test("the NATS fixture supports TLS with a private CA and nkey users", { skip: noTls }, async () => {
  const certificates = new Certificates();
  const user = nkeys.createUser();
  const config = `authorization { users: [ { nkey: ${user.getPublicKey()}, permissions: { publish: "a", subscribe: "_INBOX.>" } } ] }`;
  const server = await NatsServer.start({ tls: certificates.issue("server"), config });
  try {
    const tls = { caFile: certificates.ca };
    const known = await connect({ servers: server.url, tls, authenticator: nkeyAuthenticator(user.getSeed()) });
    assert.equal(known.info?.tls_required, true);
    await known.close();
    await assert.rejects(connect({ servers: server.url, tls, reconnect: false }), /auth/i);
    await assert.rejects(connect({ servers: server.url, reconnect: false }));
  } finally {
    await server.close();
    certificates.remove();
  }
});
