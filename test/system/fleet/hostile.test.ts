/** Malicious members with valid credentials. Their messages about sessions of other members have no effect. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { newId } from "../../../src/core/id.ts";
import { unstartedRecord } from "../../../src/executor/execution.ts";
import { type FleetConnection, openConnection } from "../../../src/fleet/connection.ts";
import { abandon, FleetRegistry } from "../../../src/fleet/registry.ts";
import { ensureStores } from "../../../src/fleet/streams.ts";
import type { JobMessage, RegistryEntry, SessionEvent } from "../../../src/fleet/wire.ts";
import type { Worker } from "../../../src/worker/worker.ts";
import { TestFleet } from "../../fixtures/fleet.ts";
import type { GatewayFixture } from "../../fixtures/gateway.ts";
import { NO_NATS } from "../../fixtures/nats.ts";
import { killAndWait } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";

const skip = NO_NATS;
let fleet: TestFleet;
let fixture: GatewayFixture;
let worker: Worker;
let liar: FleetConnection;

before(async () => {
  if (skip) return;
  fleet = await TestFleet.start();
  fixture = fleet.fixture();
  worker = await fleet.worker("w1", {}, fixture);
  liar = await openConnection({ servers: fleet.servers, as: "liar" }, "gateway");
});

after(async () => {
  await liar?.nc.close();
  await fleet?.close();
});

const BY_A_LIAR = { gateway: "liar", home: "h", id: "", attempt: 1, name: null };
const summaries = (session: string) => worker.gateway.audit.search({ session }).map(({ summary }) => summary);
const ended = async (agent: string, id: string) =>
  (await new FleetRegistry(liar.sessions).read(agent, id))?.entry.state === "ended";

/** Publishes a valid job with the given changes. */
async function send(changes: { agent?: string; id?: string; [key: string]: unknown }): Promise<string> {
  const { agent = "a", id = newId() } = changes;
  const work = {
    version: 1,
    id,
    attempt: 1,
    agent,
    to: { gateway: "liar", process: "p" },
    workspace: { name: "shop", sticky: false },
    background: false,
    request: { command: "pwd; echo mine > mark" },
    sentMs: Date.now(),
    ...changes,
  };
  await liar.js.publish(liar.subjects.work("any", agent), JSON.stringify(work));
  return id;
}

test("a workspace name cannot lead outside the agent's own folder", { skip }, async () => {
  for (const name of ["../../outside", "..", "/tmp/outside", "a/b", "."]) {
    const id = await send({ workspace: { name, sticky: false } });
    await until(`${name} is rejected`, async () => await ended("a", id));
    const error = (await new FleetRegistry(liar.sessions).read("a", id))?.entry.account?.error;
    assert.equal(error?.type, "InvalidRequest", name);
  }
  assert.ok(!existsSync(join(fixture.folder, "outside")));
  // The check is repeated where the folder is created.
  const job = {
    id: newId(),
    agent: "a",
    background: false,
    request: { command: "true" },
    vouch: () => assert.fail(),
    ours: Promise.resolve(),
    askedBy: BY_A_LIAR,
  };
  await assert.rejects(async () => worker.gateway.take({ ...job, workspace: "../outside" }), {
    type: "InvalidRequest",
  });

  const ids = [await send({ agent: "a" }), await send({ agent: "team/b" })] as const;
  await until("both jobs have run", async () => (await ended("a", ids[0])) && (await ended("team/b", ids[1])));
  const folders = ["a", "team=2Fb"].map((agent) => join(fixture.folder, "workspaces", agent, "shop", "mark"));
  assert.deepEqual(folders.map(existsSync), [true, true]);
});

test("a job that another worker has claimed leaves no row, audit entry or process", { skip }, async () => {
  const mark = join(fixture.folder, "ran");
  for (const command of [`touch ${mark}`, "rm -rf /", "touch x > ../../../outside"]) {
    const id = newId();
    const another = new Error("another worker has claimed the job");
    const job = {
      id,
      agent: "a",
      workspace: "shop",
      background: false,
      request: { command },
      vouch: () => assert.fail(),
      askedBy: BY_A_LIAR,
    };
    await assert.rejects(worker.gateway.take({ ...job, ours: Promise.reject(another) }), another);
    assert.equal(worker.gateway.row(id), null);
    assert.deepEqual(summaries(id), []);
  }
  assert.ok(!existsSync(mark));
});

test("rejects a job with the ID of another agent's session, and audits the rejection", { skip }, async () => {
  const id = await send({ agent: "a" });
  await until("the job has run", async () => await ended("a", id));
  await send({ agent: "b", id });
  await until("the rejection is audited", () =>
    summaries(id).some((each) => each.includes("a session of another agent")),
  );
  assert.equal(await new FleetRegistry(liar.sessions).read("b", id), null);
  assert.equal(worker.gateway.row(id)?.agent, "a");
});

/** Returns a valid registry entry with the given changes. */
function entry(changes: Partial<RegistryEntry>): RegistryEntry {
  const to = { gateway: "liar", process: "p" };
  return {
    version: 1,
    state: "claimed",
    host: "w1",
    attempt: 1,
    to,
    background: false,
    atMs: 1,
    claim: "c",
    ...changes,
  };
}

function exited(id: string, host: string, agent = "default"): SessionEvent {
  const account = { status: "completed", warnings: [], hints: [], error: null, logPath: null, lastLines: [] };
  return { kind: "exited", id, agent, attempt: 1, host, record: unstartedRecord("liar"), account };
}

test("accepts events only from the host of the session, for its agent and under the correct subject", {
  skip,
}, async () => {
  const heard: string[] = [];
  const processes = new Set<string>();
  liar.nc.subscribe("sp.main.res.office.>", {
    callback: (_, { subject }) => {
      heard.push(subject);
      if (subject.startsWith("sp.main.res.")) processes.add(subject.split(".")[5] ?? "");
    },
  });
  await liar.nc.flush();
  const gateway = await fleet.open();
  const session = await gateway.start({ command: "read -r line; echo $line", stdin: "open", host: "w1" });
  await until("the session has a host", () => session.info().host === "w1" && processes.size > 0);
  const [process = ""] = processes;
  const told = (host: string) => liar.subjects.result("office", host, process, "news");
  // JetStream delivers to a push consumer's subject only if a subscription for exactly this subject exists.
  liar.nc.subscribe(told("w1"), { callback: () => {} });
  liar.nc.publish(told("w2"), JSON.stringify(exited(session.id, "w2")));
  liar.nc.publish(told("w2"), JSON.stringify(exited(session.id, "w1")));
  liar.nc.publish(told("w1"), JSON.stringify(exited(session.id, "w2")));
  liar.nc.publish(told("w1"), JSON.stringify(exited(session.id, "w1", "somebody")));
  // A message that was stored under another subject and that a push consumer delivers here.
  await liar.sessions.put("somebody.news", JSON.stringify(exited(session.id, "w1")));
  const smuggled = `$KV.${liar.stores.sessions}.somebody.news`;
  const stream_name = `KV_${liar.stores.sessions}`;
  const from = { filter_subject: smuggled, ack_policy: "none", deliver_policy: "all" };
  const config = { name: "smuggler", deliver_subject: told("w1"), ...from };
  const asked = `$JS.API.CONSUMER.CREATE.${stream_name}.smuggler.${smuggled}`;
  const answer = await liar.nc.request(asked, JSON.stringify({ stream_name, config }));
  assert.equal(answer.json<{ error?: unknown }>().error, undefined);
  await until("the message is delivered", () => heard.includes(smuggled));
  await session.write("truth\n");
  assert.equal((await session.wait()).exitCode, 0);
  assert.equal((await session.logs()).text, "truth\n");
  await gateway.close();
});

test("a worker cannot redirect a request that names a host or a label", { skip }, async () => {
  const own = { servers: fleet.servers, name: "empty" };
  const link = await openConnection({ ...own, as: "liar" }, "worker");
  await ensureStores(link.nc, "empty");
  const sent: { subject: string; id: string }[] = [];
  link.nc.subscribe("sp.empty.work.>", {
    callback: (_, message) => {
      const { id, agent, to } = message.json<JobMessage>();
      sent.push({ subject: message.subject, id });
      if (message.subject.includes(".host.w9.")) return;
      for (const from of ["w1", "w2"]) {
        const event: SessionEvent = { kind: "elsewhere", id, agent, attempt: 1, host: "w9" };
        link.nc.publish(link.subjects.result(to.gateway, from, to.process, "news"), JSON.stringify(event));
      }
    },
  });
  await link.nc.flush();
  const gateway = await fleet.open({ fleet: { ...own, sticky: false } });
  const command = "true";
  // There is no worker, so each session is abandoned after the events were handled.
  const requests = [{ command }, { command, labels: { gpu: "yes" } }, { command, host: "w1" }];
  const results = await Promise.all(requests.map((request) => gateway.run(request)));
  assert.deepEqual(
    results.map(({ error }) => error?.type),
    ["NoWorker", "NoWorker", "NoWorker"],
  );
  const moved = sent.filter(({ subject }) => subject.includes(".host.w9."));
  assert.deepEqual([...new Set(moved.map(({ id }) => id))], [results[0]?.id]);
  await gateway.close();
  await link.nc.close();
});

test("a worker rejects a second attempt of a request that is not idempotent", { skip }, async () => {
  for (const attempt of [2, 3]) {
    const id = await send({ attempt });
    await until("the job is rejected", () => summaries(id).some((each) => each.includes("may run more than once")));
  }
  const id = await send({ attempt: 4, request: { command: "true", retry: "idempotent" } });
  await until("the job is rejected", () =>
    worker.gateway.audit.search({}).some(({ summary }) => summary.startsWith("Job rejected: it is malformed")),
  );
  assert.equal(worker.gateway.row(id), null);
});

test("a gateway resends its own copy of a job, not data from the registry", { skip }, async () => {
  const [mark, go, evil] = [fleet.home.path("own"), fleet.home.path("go"), fleet.home.path("evil")];
  const first = await fleet.open();
  const command = `echo own >> ${mark}; while ! test -e ${go}; do sleep 0.05; done`;
  const { id } = await first.start({ command, host: "w1", retry: "idempotent" });
  const lines = () => (existsSync(mark) ? readFileSync(mark, "utf8") : "");
  await until("the command runs", () => lines() === "own\n");
  await first.close();
  const key = `default.${id}`;
  const stored = (await liar.sessions.get(key))?.json<RegistryEntry>();
  assert.ok(stored && !("work" in stored), "the registry must not contain the request");
  const work = { version: 1, id, attempt: 1, agent: "default", to: stored.to, workspace: { name: "x", sticky: false } };
  const bad = { ...work, background: true, request: { command: `touch ${evil}`, retry: "idempotent" }, sentMs: 1 };
  const open = { ...stored, state: "open", attempt: 2, host: null, claim: "", work: bad };
  await liar.sessions.put(key, JSON.stringify(open));
  const second = await fleet.open();
  const again = second.session(id);
  const over = again.wait();
  await until("the command runs again", () => lines() === "own\nown\n");
  writeFileSync(go, "");
  assert.equal((await over).exitCode, 0);
  assert.ok(!existsSync(evil));
  await second.close();
});

test("abandons only sessions that no worker has claimed", { skip }, async () => {
  const book = new FleetRegistry(liar.sessions);
  const become = async (before: RegistryEntry, killed = false) => {
    const id = newId();
    await book.create("a", id, before);
    const became = await abandon(book, { ...before, agent: "a", id, killed });
    return [typeof became === "string" ? became : "seen", (await book.read("a", id))?.entry.state];
  };
  assert.deepEqual(await become(entry({ state: "open", host: null })), ["forgone", "forgone"]);
  assert.deepEqual(await become(entry({ state: "open", host: null, attempt: 2 })), ["lost", "lost"]);
  assert.deepEqual(await become(entry({ state: "open", host: null, attempt: 2 }), true), ["forgone", "forgone"]);
  assert.deepEqual(await become(entry({})), ["seen", "claimed"]);
});

test("when the host of a workspace is lost, sticky sessions end and waiting sessions can be killed", {
  skip,
}, async () => {
  const own = { servers: fleet.servers, name: "other" };
  const mortal = await fleet.workerProcess("mortal", { fleet: { ...own, as: "mortal" } });
  const gateway = await fleet.open({ fleet: own });
  const bound = await gateway.start({ command: "sleep 1000", retry: "idempotent" });
  await until("the session has a host", () => bound.info().host === "mortal");
  const waiting = await gateway.start({ command: "sleep 1000", host: "mortal", retry: "idempotent" });
  await until("the session has a host", () => waiting.info().host === "mortal");
  await killAndWait(mortal.child);
  assert.equal((await bound.wait()).status, "lost");
  const link = await openConnection({ ...own, as: "looker" }, "gateway");
  const book = new FleetRegistry(link.sessions);
  await until(
    "the session waits for its host",
    async () => (await book.read("default", waiting.id))?.entry.state === "open",
  );
  await waiting.kill();
  assert.equal((await waiting.wait()).status, "killed");
  assert.equal((await book.read("default", waiting.id))?.entry.state, "forgone");
  // The restarted worker kills the leftovers of both. It has the marker variable itself, so one process remains.
  const back = await fleet.workerProcess("mortal", { fleet: { ...own, as: "mortal" } }, mortal.fixture);
  await until("no process of the sessions is left", () => mortal.fixture.alive().length === 1);
  await killAndWait(back.child);
  await link.nc.close();
  await gateway.close();
});

test("a worker starts and serves its sessions despite an invalid registry entry or drain value", {
  skip,
}, async () => {
  const first = await fleet.workerProcess("w2");
  const gateway = await fleet.open();
  const session = await gateway.start({ command: "read -r line; echo $line", stdin: "open", host: "w2" });
  await until("the session has a host", () => session.info().host === "w2");
  await killAndWait(first.child);
  for (const text of ["not even JSON", JSON.stringify({ state: "claimed", host: "*" })]) {
    await liar.sessions.put(`default.${session.id}`, text);
    assert.equal(await new FleetRegistry(liar.sessions).read("default", session.id), null);
  }
  await liar.places.put("drain.w2", "no");
  const second = await fleet.workerProcess("w2", {}, first.fixture);
  assert.equal((await gateway.run({ command: "echo on", host: "w2" })).stdout, "on\n");
  await session.write("still here\n");
  assert.equal((await session.wait()).exitCode, 0);
  await gateway.close();
  await killAndWait(second.child);
});

test("a worker responds only to inbox subjects", { skip }, async () => {
  const answers: string[] = [];
  const callback = (_: unknown, { subject }: { subject: string }) => void answers.push(subject);
  liar.nc.subscribe("written.here", { callback });
  liar.nc.subscribe("_INBOX.liar", { callback });
  const asked = liar.subjects.control("w1", "default", "watch");
  const ask = JSON.stringify({ version: 1, id: newId() });
  for (const reply of ["written.here", "_INBOX.liar"]) liar.nc.publish(asked, ask, { reply });
  await until("the worker has responded", () => answers.includes("_INBOX.liar"));
  assert.deepEqual(answers, ["_INBOX.liar"]);
});

test("a session that outlives its registry entry continues, and its end is recorded", { skip }, async () => {
  const gateway = await fleet.open();
  const session = await gateway.start({ command: "read -r line; echo $line", stdin: "open", host: "w1" });
  await until("the session has a host", () => session.info().host === "w1");
  const manager = await liar.js.jetstreamManager(false);
  const key = `$KV.${liar.stores.sessions}.default.${session.id}`;
  const age = () => manager.streams.purge(`KV_${liar.stores.sessions}`, { filter: key });
  const state = async () => (await new FleetRegistry(liar.sessions).read("default", session.id))?.entry.state;
  await age();
  // After a reconnect the worker verifies its claims.
  await fleet.server.kill();
  await fleet.server.start();
  await until("the entry is created again", async () => (await state().catch(() => null)) === "claimed");
  await age();
  await session.write("old\n");
  assert.equal((await session.wait()).exitCode, 0);
  await until("the end of the session is recorded", async () => (await state()) === "ended");
  await gateway.close();
});
