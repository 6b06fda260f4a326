/**
 * Measures the memory and disk space that a session takes on the server, by filling the registry with the entries of
 * many sessions.
 *
 *   node bench/fleet/keys.ts [SESSIONS]
 */
import { randomUUID } from "node:crypto";
import { joinFleet } from "../../src/fleet/connection.ts";
import { ensureStores } from "../../src/fleet/streams.ts";
import { sessionKey } from "../../src/fleet/subjects.ts";
import { NatsServer } from "../../test/fixtures/nats.ts";

const SESSIONS = Number(process.argv[2] ?? 200_000);
const AT_ONCE = 500;

const server = await NatsServer.start();
try {
  const { connection } = await joinFleet({ servers: server.url, as: "keys" }, "gateway");
  const { sessions } = await ensureStores(connection, "main");
  const read = async () => {
    const { mem } = await server.monitor<{ mem: number }>("/varz");
    const { storage } = await server.monitor<{ storage: number }>("/jsz");
    return { mem, storage };
  };
  const before = await read();
  // About the size of the entry of an ended session.
  const entry = JSON.stringify({ version: 1, state: "ended", host: "web-1", attempt: 1, record: "x".repeat(700) });
  for (let at = 0; at < SESSIONS; at += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => sessions.put(sessionKey("builder", randomUUID()), entry)));
  }
  const after = await read();
  const each = (name: "mem" | "storage") => Math.round((after[name] - before[name]) / SESSIONS);
  process.stdout.write(
    `${JSON.stringify({ sessions: SESSIONS, "memory bytes each": each("mem"), "disk bytes each": each("storage") })}\n`,
  );
  await connection.close();
} finally {
  await server.close();
}
