import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { AckPolicy, jetstream, jetstreamManager } from "@nats-io/jetstream";
import {
  connect,
  type NatsConnection,
  nkeyAuthenticator,
  nkeys,
  PermissionViolationError,
} from "@nats-io/transport-node";
import { joinFleet } from "../../../src/fleet/connection.ts";
import { ensureStores } from "../../../src/fleet/streams.ts";
import { consumerName, inboxPrefix, storeNames, subjectsOf } from "../../../src/fleet/subjects.ts";
import { answerLists, beat } from "../../fixtures/false-worker.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { NatsServer, NO_NATS } from "../../fixtures/nats.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const skip = NO_NATS;
const subjects = subjectsOf("main");
const stores = storeNames("main");

/** A user with all permissions, who sees every message that the server accepted. */
const watcher = nkeys.createUser();
let folder: string;
let server: NatsServer;
let seen: string[];
let watching: NatsConnection;
const members: Record<string, NatsConnection> = {};
const violations = new Map<NatsConnection, string[]>();

async function member(kind: "gateway" | "worker", name: string): Promise<NatsConnection> {
  const credentials = join(folder, "keys", `${kind}-${name}.seed`);
  const { connection } = await joinFleet({ servers: server.url, as: name, credentials }, kind);
  const refused: string[] = [];
  violations.set(connection, refused);
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === "error" && status.error instanceof PermissionViolationError)
        refused.push(status.error.subject);
    }
  })();
  return connection;
}

before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), "sallyport-permissions-"));
  const box = new Sandbox();
  const keys = ["--keys", join(folder, "keys")];
  const names = ["--gateway", "office", "--worker", "h1", "--worker", "h2", "--labels", "gpu=yes"];
  const all = await box.run(["fleet", "permissions", ...names, ...keys]);
  const limited = await box.run([
    "fleet",
    "permissions",
    "--gateway",
    "laptop",
    "--agent",
    "team/b",
    ...keys,
    "--json",
  ]);
  const alone = await box.run(["fleet", "permissions", "--gateway", "laptop", "--agent", "team/b", ...keys]);
  box.remove();
  assert.equal(all.code, 0, all.stderr);
  assert.equal(JSON.parse(limited.stdout)[0].member.agent, "team/b");
  const users = (text: string) => text.slice(text.indexOf("users: [") + 8, text.lastIndexOf("]"));
  const watch = `{ nkey: ${watcher.getPublicKey()} }`;
  server = await NatsServer.start({
    config: `authorization { users: [ ${users(all.stdout)} ${users(alone.stdout)} ${watch} ] }`,
  });
  watching = await connect({ servers: server.url, authenticator: nkeyAuthenticator(watcher.getSeed()) });
  seen = [];
  watching.subscribe(">", { callback: (_, { subject }) => void seen.push(subject) });
  await watching.flush();
  members.office = await member("gateway", "office");
  await ensureStores(members.office, "main");
  members.laptop = await member("gateway", "laptop");
  members.h1 = await member("worker", "h1");
  members.h2 = await member("worker", "h2");
});

after(async () => {
  if (skip) return;
  for (const connection of [...Object.values(members), watching]) await connection.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function who(name: string): NatsConnection {
  const found = members[name];
  assert.ok(found, name);
  return found;
}

test("seed files are readable only by their owner", { skip }, () => {
  assert.equal(statSync(join(folder, "keys", "worker-h1.seed")).mode & 0o777, 0o600);
});

for (const [gateway, agent] of [
  ["office", "anybody"],
  ["laptop", "team/b"],
] as const) {
  test(`gateway ${gateway} and a worker have all permissions they need`, { skip }, async () => {
    const [asking, working] = [who(gateway), who("h1")];
    const session = `session-of-${gateway}`;
    const results = asking.subscribe(subjects.result(gateway, "*", "p1", "*"), { max: 1 });
    const store = await ensureStores(working, "main");
    const theirs = await ensureStores(asking, "main");
    await asking.flush();

    for (const place of ["any", { host: "h1" }, { label: ["gpu", "yes"] }] as const) {
      const subject = subjects.work(place as never, agent);
      await jetstream(asking).publish(subject, "do it", { msgID: `${session} ${consumerName(place as never)}` });
      const durable_name = consumerName(place as never);
      const filter_subject = subjects.work(place as never, "*").replace("=2A", "*");
      const config = { durable_name, filter_subject, ack_policy: AckPolicy.Explicit };
      await store.manager.consumers.add(stores.work, config);
      const message = await (await jetstream(working).consumers.get(stores.work, durable_name)).next({ expires: 5000 });
      assert.equal(message?.subject, subject);
      await message?.ackAck();
    }

    const key = `${subject(agent)}.${session}`;
    await store.sessions.create(key, "h1");
    assert.equal((await theirs.sessions.get(key))?.string(), "h1");
    await store.workers.put("h1", "{}");
    const { state } = await theirs.manager.streams.info(`KV_${stores.workers}`, { subjects_filter: ">" });
    assert.deepEqual(Object.keys(state.subjects ?? {}), [`$KV.${stores.workers}.h1`]);

    working.publish(subjects.result(gateway, "h1", "p1", "news"), "done");
    for await (const message of results) assert.equal(message.string(), "done");

    await jetstream(working).publish(subjects.exit("h1", agent, session), "0", { msgID: session });
    const again = await jetstream(asking).publish(subjects.exit("h1", agent, session), "lost", { msgID: session });
    assert.equal(again.duplicate, true);
    const filter = subjects
      .exit("*", agent, "*")
      .replace(`.${subject(agent)}.`, `.${gateway === "office" ? "*" : subject(agent)}.`);
    const exits = { durable_name: `gateway=${gateway}`, filter_subject: filter, ack_policy: AckPolicy.Explicit };
    await theirs.manager.consumers.add(stores.exits, exits);
    const consumer = await jetstream(asking).consumers.get(stores.exits, `gateway=${gateway}`);
    const exit = await consumer.next({ expires: 5000 });
    assert.equal(exit?.string(), "0");
    await exit?.ackAck();

    working.subscribe(subjects.control("h1", agent, "*").replace("=2A", "*"), {
      max: 1,
      callback: (_, message) => {
        for (const part of ["a", "b"]) message.respond(part);
      },
    });
    await working.flush();
    const answers = [];
    const parts = await asking.requestMany(subjects.control("h1", agent, "logs"), "", {
      strategy: "count",
      maxMessages: 2,
      maxWait: 5000,
    });
    for await (const message of parts) answers.push(message.string());
    assert.deepEqual(answers, ["a", "b"]);
    for (const connection of [asking, working]) assert.deepEqual(violations.get(connection), []);
  });
}

function subject(agent: string): string {
  return agent.replace("/", "=2F");
}

test("an operator's gateway drains a worker", { skip }, async () => {
  who("h2").subscribe(subjects.node("h2", "drain"), { max: 1, callback: (_, message) => void message.respond("yes") });
  await who("h2").flush();
  assert.equal((await who("office").request(subjects.node("h2", "drain"))).string(), "yes");
});

/** Subjects to which a member must not publish. */
const FORBIDDEN_PUBLISH: [string, string][] = [
  ["h1", subjects.exit("h2", "anybody", "s")],
  ["h1", subjects.result("office", "h2", "p1", "news")],
  ["h1", `$KV.${stores.workers}.h2`],
  ["h1", subjects.work("any", "anybody")],
  ["h1", subjects.control("h2", "anybody", "kill")],
  ["h1", subjects.node("h2", "drain")],
  ["h1", `${inboxPrefix("main", "gateway", "office")}.x`],
  ["h1", `$JS.API.STREAM.DELETE.${stores.work}`],
  ["h1", `$JS.API.STREAM.PURGE.${stores.work}`],
  ["h1", `$JS.API.STREAM.CREATE.${stores.work}`],
  ["h1", `$JS.API.STREAM.MSG.GET.${stores.work}`],
  ["h1", `$JS.API.STREAM.MSG.DELETE.KV_${stores.sessions}`],
  ["h1", `$JS.API.CONSUMER.DELETE.${stores.work}.any`],
  ["h1", `$JS.API.CONSUMER.MSG.NEXT.${stores.work}.host=h2`],
  ["h1", `$JS.API.CONSUMER.MSG.NEXT.${stores.work}.label=gpu=no`],
  ["h1", `$JS.ACK.${stores.work}.host=h2.1.1.1.1.0`],
  ["h1", `$JS.API.CONSUMER.CREATE.${stores.work}.x.${subjects.work("any", "a")}`],
  ["h1", `$JS.API.CONSUMER.CREATE.${stores.work}.host=h1.sp.main.work.host.h2.*`],
  ["h1", `$JS.API.CONSUMER.DURABLE.CREATE.${stores.work}.host=h1`],
  ["h1", `$JS.API.CONSUMER.CREATE.${stores.work}`],
  ["office", `$KV.${stores.workers}.h1`],
  ["office", subjects.result("laptop", "h1", "p1", "news")],
  ["office", `$JS.API.STREAM.DELETE.${stores.work}`],
  ["office", `$JS.API.CONSUMER.MSG.NEXT.${stores.work}.any`],
  ["office", `$JS.API.STREAM.CREATE.OTHER`],
  ["laptop", subjects.work("any", "anybody")],
  ["laptop", subjects.work({ host: "h1" }, "anybody")],
  ["laptop", subjects.work({ label: ["gpu", "yes"] }, "anybody")],
  ["laptop", subjects.control("h1", "anybody", "kill")],
  ["laptop", subjects.exit("h1", "anybody", "s")],
  ["laptop", subjects.node("h1", "drain")],
  ["laptop", `$KV.${stores.sessions}.anybody.s`],
  ["laptop", `$JS.API.STREAM.CREATE.${stores.work}`],
  ["laptop", `$JS.API.STREAM.MSG.GET.${stores.exits}`],
  ["laptop", `$JS.API.CONSUMER.CREATE.${stores.exits}.x.${subjects.exit("h1", "anybody", "s")}`],
  ["laptop", `$JS.API.CONSUMER.CREATE.KV_${stores.sessions}.x.$KV.${stores.sessions}.>`],
  ["laptop", `$JS.API.CONSUMER.CREATE.KV_${stores.workers}.x.$KV.${stores.workers}.>`],
  ["laptop", `$JS.API.CONSUMER.CREATE.KV_${stores.sessions}.x.$KV.${stores.sessions}.team=2Fb.*`],
];

test("the server rejects publishing to subjects of other members", { skip }, async () => {
  for (const [name, forbidden] of FORBIDDEN_PUBLISH) {
    const connection = who(name);
    const refused = violations.get(connection) ?? [];
    refused.length = 0;
    seen.length = 0;
    connection.publish(forbidden, "{}");
    await connection.flush();
    await watching.flush();
    assert.ok(!seen.includes(forbidden), `${name} could publish ${forbidden}`);
    await until(`${name} receives the violation for ${forbidden}`, () => refused.includes(forbidden));
  }
});

const FORBIDDEN_SUBSCRIBE: [string, string][] = [
  ["h1", ">"],
  ["h1", "_INBOX.>"],
  ["h1", `${inboxPrefix("main", "gateway", "office")}.>`],
  ["h1", `${inboxPrefix("main", "worker", "h2")}.>`],
  ["h1", "sp.main.ctl.h2.>"],
  ["h1", "sp.main.work.>"],
  ["h1", "sp.main.res.>"],
  ["h1", `$KV.${stores.sessions}.>`],
  ["office", `${inboxPrefix("main", "gateway", "laptop")}.>`],
  ["office", "sp.main.work.>"],
  ["office", "sp.main.res.laptop.>"],
  ["laptop", `${inboxPrefix("main", "gateway", "office")}.>`],
];

test("the server rejects subscribing to subjects of other members", { skip }, async () => {
  for (const [name, forbidden] of FORBIDDEN_SUBSCRIBE) {
    const subscription = who(name).subscribe(forbidden);
    const closed = await subscription.closed;
    assert.ok(closed instanceof PermissionViolationError, `${name} could subscribe to ${forbidden}`);
  }
});

test("a consumer's filter cannot exceed the filter in its create subject", { skip }, async () => {
  const config = { name: "gateway=laptop", durable_name: "gateway=laptop", ack_policy: AckPolicy.Explicit };
  const asked = `$JS.API.CONSUMER.CREATE.${stores.exits}.gateway=laptop.sp.main.exit.*.team=2Fb.*`;
  const body = { stream_name: stores.exits, config: { ...config, filter_subject: "sp.main.exit.>" } };
  const answer = await who("laptop").request(asked, JSON.stringify(body));
  assert.match(answer.string(), /did not match filtered subject/);
});

test("a push consumer cannot be used to send messages as another agent", { skip }, async () => {
  const laptop = who("laptop");
  const heard: string[] = [];
  const listening = who("h1").subscribe(subjects.control("h1", "anybody", "kill"), {
    callback: (_, { subject }) => void heard.push(subject),
  });
  await who("h1").flush();
  const filter_subject = "sp.main.exit.*.team=2Fb.*";
  const name = "gateway=laptop";
  const deliver_subject = subjects.control("h1", "anybody", "kill");
  const config = { name, deliver_subject, filter_subject, ack_policy: AckPolicy.None, deliver_policy: "all" };
  const asked = `$JS.API.CONSUMER.CREATE.${stores.exits}.${name}.${filter_subject}`;
  const body = JSON.stringify({ stream_name: stores.exits, config });
  await (await jetstreamManager(watching)).consumers.delete(stores.exits, name); // an earlier test created it
  assert.equal((await laptop.request(asked, body)).json<{ error?: unknown }>().error, undefined);
  await jetstream(who("h1")).publish("sp.main.exit.h1.team=2Fb.x", "{}");
  // The message is delivered, but under its original subject, which receivers check.
  await until("the message is delivered", () => heard.length > 0);
  assert.ok(heard.every((subject) => /^sp\.main\.exit\..*\.team=2Fb\./.test(subject)));
  listening.unsubscribe();
});

test("a gateway limited to one agent lists only that agent's sessions", {
  skip,
}, async () => {
  const fixture = new GatewayFixture();
  const asked = await answerLists(who("h1"), "h1", () => ({ rows: [], more: false, total: 0 }));
  const stop = beat(await ensureStores(who("h1"), "main"), "h1");
  const listing = async (as: string) => {
    const credentials = join(folder, "keys", `gateway-${as}.seed`);
    const gateway = await fixture.open({ agent: "team/b", fleet: { servers: server.url, as, credentials } });
    asked.length = 0;
    await until(
      "the worker receives the request",
      async () => (await gateway.sessions()).warnings.length === 0 && asked.length > 0,
    );
    return new Set(asked);
  };
  try {
    assert.deepEqual(await listing("laptop"), new Set(["sp.main.ctl.h1.team=2Fb.sessions"]));
    assert.deepEqual(await listing("office"), new Set(["sp.main.ctl.h1.=.sessions"]));
  } finally {
    await stop();
    await fixture.close();
  }
});
