/**
 * Simulates many workers in one process. To the servers, each looks like a real worker: it has a connection, sends
 * heartbeats, pulls and claims jobs, and reports their end, but it runs no commands. scale.ts starts this program,
 * which prints a line of JSON when all workers have joined.
 */
import { AckPolicy, jetstream } from "@nats-io/jetstream";
import { createInbox, type Msg } from "@nats-io/transport-node";
import { joinFleet } from "../../src/fleet/connection.ts";
import { ensureStores } from "../../src/fleet/streams.ts";
import { consumerName, inboxPrefix, type Place, sessionKey, storeNames, subjectsOf } from "../../src/fleet/subjects.ts";

const [servers = "", from = "0", count = "0", beatMs = "2500", ownQueues = "replicated"] = process.argv.slice(2);
const subjects = subjectsOf("main");
const stores = storeNames("main");
/** The maximum number of pending pull requests. It exceeds the number of workers, because each worker has its own. */
const MOST_WAITING = 10_000;
const PULL_EXPIRES_MS = 20_000;

async function join(index: number): Promise<void> {
  const host = `w${index}`;
  const { connection } = await withRetry(() => joinFleet({ servers, as: host }, "worker"));
  const { manager, sessions, workers } = await withRetry(() => ensureStores(connection, "main"));
  const js = jetstream(connection);

  const beat = {
    version: 1,
    release: "0.1.0",
    host,
    boot: `${process.pid}-${index}`,
    labels: { zone: "eu" },
    slots: 8,
  };
  const sendBeat = () => {
    const now = Date.now();
    const state = { free: 8, running: 0, load: 0.5, draining: false, startedMs: now, atMs: now };
    workers.put(host, JSON.stringify({ ...beat, ...state })).catch(() => {});
  };
  sendBeat();
  // Spread the heartbeats over the interval.
  setTimeout(() => setInterval(sendBeat, Number(beatMs)), Math.random() * Number(beatMs));

  const work = async (message: Msg) => {
    const { id, agent, gateway, background } = message.json<{
      id: string;
      agent: string;
      gateway: string;
      background: boolean;
    }>();
    const key = sessionKey(agent, id);
    const entry = {
      version: 1,
      state: "claimed",
      host,
      attempt: 1,
      claim: `${host}.${id}`,
      atMs: Date.now(),
      background,
    };
    const revision = await sessions.create(key, JSON.stringify(entry));
    message.respond("+ACK");
    const record = {
      reason: "exited",
      pid: 4711,
      code: 0,
      signal: 0,
      durationUs: 1200,
      streams: [{ name: "stdout", bytes: 12 }],
    };
    const ended = JSON.stringify({ ...entry, state: "ended", record });
    // The result is published without waiting for the registry.
    connection.publish(subjects.result(gateway, host, "1", id), ended);
    await sessions.update(key, ended, revision);
    if (background) await js.publish(subjects.exit(host, agent, id), ended, { msgID: id });
  };

  const places: Place[] = ownQueues === "none" ? ["any"] : ["any", { host }];
  for (const place of places) {
    const durable_name = consumerName(place);
    const filter_subject = `${subjects.work(place, "x").slice(0, -1)}*`;
    const limits = { max_waiting: MOST_WAITING, max_ack_pending: MOST_WAITING, ack_wait: 15_000_000_000 };
    const copies = ownQueues === "single" && place !== "any" ? { num_replicas: 1, mem_storage: true } : {};
    const config = { durable_name, filter_subject, ack_policy: AckPolicy.Explicit, ...limits, ...copies };
    await withRetry(() => manager.consumers.add(stores.work, config));
    const inbox = createInbox(inboxPrefix("main", "worker", host));
    const pull = () => {
      const asked = JSON.stringify({ batch: 8, expires: PULL_EXPIRES_MS * 1_000_000 });
      connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stores.work}.${durable_name}`, asked, { reply: inbox });
    };
    let taken = 0;
    connection.subscribe(inbox, {
      callback: (_, message) => {
        if (message.headers?.code) return pull();
        if (++taken % 8 === 0) pull();
        void work(message).catch(() => {});
      },
    });
    pull();
  }
}

/** The number of requests that timed out under load, which is part of the result. */
let timeouts = 0;
async function withRetry<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (++timeouts > 1000) throw error;
    }
  }
}

const first = Number(from);
const all = Array.from({ length: Number(count) }, (_, index) => first + index);
// The workers join a few at a time, because a thousand machines do not start in the same millisecond.
const AT_ONCE = 16;
for (let at = 0; at < all.length; at += AT_ONCE) await Promise.all(all.slice(at, at + AT_ONCE).map(join));
process.stdout.write(`${JSON.stringify({ joined: all.length, timeouts })}\n`);
