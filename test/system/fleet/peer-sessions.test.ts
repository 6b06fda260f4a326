import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { SessionList } from "../../../src/core/gateway.ts";
import { openConnection } from "../../../src/fleet/connection.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { tools } from "../../../src/index.ts";
import type { Worker } from "../../../src/worker/worker.ts";
import { answerLists, beat } from "../../fixtures/false-worker.ts";
import { TestFleet } from "../../fixtures/fleet.ts";
import type { GatewayFixture } from "../../fixtures/gateway.ts";
import { NO_NATS } from "../../fixtures/nats.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";
import { TestService } from "../../fixtures/service.ts";
import { until } from "../../fixtures/until.ts";

const skip = NO_NATS;
let fleet: TestFleet;
let worker: Worker;
let office: Gateway;
let branchFixture: GatewayFixture;
let branch: Gateway;

before(async () => {
  if (skip) return;
  fleet = await TestFleet.start();
  worker = await fleet.worker("h1");
  await fleet.worker("h2");
  office = await fleet.open();
  branchFixture = fleet.fixture();
  branch = await branchFixture.open({ fleet: { servers: fleet.servers, as: "branch" } });
});

after(() => fleet?.close());

const ids = (sessions: { id: string }[]) => sessions.map(({ id }) => id);
const listed = async (gateway: Gateway, query = {}) => (await gateway.sessions(query)).sessions;

const NEVER = "ffffffff-ffff-7fff-bfff-ffffffffffff";

/** Returns the highest session ID that can be created at the time `ms`. */
function idAt(ms: number): string {
  const time = ms.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}${NEVER.slice(13)}`;
}

async function toolAnswer(gateway: Gateway, name: string, input: object) {
  const tool = tools(gateway, "process").find((each) => each.name === name);
  return (await tool?.call(input))?.structured as Record<string, unknown> | undefined;
}

test("a gateway lists sessions of other gateways with name, command, host and gateway", {
  skip,
}, async () => {
  const far = await office.start({ command: "echo begun; sleep 1000", name: "far", host: "h1" });
  const near = await branch.start({ command: "sleep 1000", host: "h2" });
  const page = await branch.sessions({ live: true });
  assert.deepEqual(ids(page.sessions), [near.id, far.id]);
  assert.deepEqual([page.next, page.total, page.fleet, page.warnings], [null, 2, true, []]);
  const [own, theirs] = page.sessions;
  assert.deepEqual([own?.host, own?.gateway], ["h2", null]);
  assert.deepEqual(
    [theirs?.name, theirs?.command, theirs?.status, theirs?.host, theirs?.gateway],
    ["far", "echo begun; sleep 1000", "running", "h1", "office"],
  );
  assert.deepEqual(ids(branch.list()), [near.id], "the records of this state folder are unchanged");
  assert.deepEqual(ids(await listed(branch, { others: true })), [far.id]);
  const list = await toolAnswer(branch, "process.list", {});
  const rows = list?.processes as { process_id: string; host: string }[];
  assert.deepEqual(
    rows.map(({ process_id, host }) => [process_id, host]),
    [
      [near.id, "h2"],
      [far.id, "h1"],
    ],
  );
  assert.equal(list?.total, 2);
  await near.kill();
  await far.kill();
  assert.deepEqual(await listed(branch, { live: true }), []);
});

test("another gateway's session can be read, awaited, written to and killed; only its owner sends a callback", {
  skip,
}, async () => {
  const far = await office.start({ command: "cat", name: "reader", stdin: "open" });
  const remote = await branch.find("reader");
  assert.equal(remote.id, far.id);
  await remote.write("hello\n");
  await until("the output has arrived", async () => (await remote.logs()).text === "hello\n");
  await remote.extend(900_000);
  const found = await remote.waitFor({ timeoutMs: 1 });
  assert.deepEqual([found.reason, found.info.gateway], ["timeout", "office"]);
  const waiting = remote.wait();
  const killed = await remote.kill();
  assert.deepEqual([killed.status, (await waiting).status], ["killed", "killed"]);
  assert.equal((await far.wait()).status, "killed");
  await until("the callback is queued", () => office.work.list().some(({ payload }) => idOf(payload) === far.id));
  assert.ok(!branch.work.list().some(({ payload }) => idOf(payload) === far.id), "only the owner sends a callback");
  assert.throws(() => branch.session(far.id), { type: "SessionNotFound" });
  const deeds = branch.audit.search({ session: far.id, limit: 10 }).map(({ kind }) => kind);
  assert.deepEqual(deeds.sort(), ["deadline", "signal", "stdin"], "operations from this gateway are audited here");
  await assert.rejects(remote.remove({ force: true }), { type: "OtherGateway", message: /reader.*h1.*office/ });
});

const idOf = (payload: unknown) => (payload as { session_id?: string }).session_id;

/** Opens a gateway without sessions of its own. */
const visitor = () => fleet.fixture().open({ fleet: { servers: fleet.servers, as: "visitor" } });

test("a gateway checks input to another gateway's session, even if the session's name is a prefix of other IDs", {
  skip,
}, async () => {
  const far = await office.start({ command: "exec sh -i", name: "01", pty: true });
  try {
    await office.run({ command: "true" });
    const gateway = await visitor();
    const remote = await gateway.find("01");
    assert.equal(remote.id, far.id);
    assert.equal((await remote.waitFor({ input: true, timeoutMs: 60_000 })).reason, "input");
    // This command would do no harm if it ran, because the device does not exist.
    await assert.rejects(remote.write("mkfs.ext4 /no/such/device\r"), { type: "CommandBlocked" });
    const deeds = gateway.audit.search({ session: far.id, limit: 10 }).map(({ kind, outcome }) => `${kind} ${outcome}`);
    assert.deepEqual(deeds, ["stdin refused"], "the gateway that receives the input rejects it");
  } finally {
    await far.kill({ signal: "SIGKILL" });
  }
});

test("closing a gateway ends waits for another gateway's session", { skip }, async () => {
  const far = await office.start({ command: "sleep 1000" });
  const gateway = await visitor();
  const waiting = (await gateway.find(far.id)).wait();
  await gateway.close();
  assert.equal((await waiting).status, "running");
  await far.kill();
});

test("an ended session of another gateway is found by ID, by ID prefix and through tools", { skip }, async () => {
  const { id } = await office.run({ command: "echo done; exit 3" });
  const remote = await branch.find(id.slice(0, 30));
  const { status, exitCode } = await remote.wait();
  assert.deepEqual([remote.id, status, exitCode], [id, "completed", 3]);
  const logs = await toolAnswer(branch, "process.logs", { process_id: id });
  assert.equal(logs?.stdout, "done\n");
  assert.equal((await toolAnswer(branch, "process.monitor", { process_id: id }))?.exit_code, 3);
  await assert.rejects(branch.find("no-such-session"), { type: "SessionNotFound" });
  await assert.rejects(branch.find(""), { type: "SessionNotFound" });
});

test("an agent finds only its own sessions on other gateways", { skip }, async () => {
  const theirs = await office.start({ command: "sleep 1000", name: "secret" });
  const mine = await office.acting({ agent: "builder", channel: "test" }).start({ command: "sleep 1001" });
  const builder = branch.acting({ agent: "builder", channel: "test" });
  assert.deepEqual(ids(await listed(builder)), [mine.id]);
  assert.equal((await builder.find(mine.id)).info().agent, "builder");
  for (const reference of [theirs.id, "secret", theirs.id.slice(0, 20)]) {
    await assert.rejects(builder.find(reference), { type: "SessionNotFound" });
  }
  assert.deepEqual(ids(await listed(branch, { live: true, agent: "builder" })), [mine.id]);
  await theirs.kill();
  await mine.kill();
});

test("pagination across gateways neither repeats nor skips sessions", { skip }, async () => {
  const all: string[] = [];
  for (let n = 0; n < 9; n++) {
    const gateway = n % 2 === 0 ? office : branch;
    all.unshift((await gateway.run({ command: "true", host: n % 3 === 0 ? "h1" : "h2", intent: "paged" })).id);
  }
  const found: string[] = [];
  for (let before: string | null = "~"; before !== null; ) {
    const page = await branch.sessions({ text: "paged", limit: 2, before });
    found.push(...ids(page.sessions));
    before = page.next;
  }
  assert.deepEqual(found, all);
});

test("a session that its gateway removed is not listed, and every row of a worker names its requester", {
  skip,
}, async () => {
  const { id } = await office.run({ command: "echo forget me" });
  await office.session(id).remove();
  assert.ok(!ids(await listed(office)).includes(id));
  const rows = worker.gateway.registry.store.list({ limit: 1000 }).map(({ asked_by }) => asked_by);
  assert.ok(rows.length > 0 && rows.every((by) => by !== null));
});

test("a listing names workers that do not respond and shows the sessions of the others", { skip }, async () => {
  const far = await office.start({ command: "sleep 1000", host: "h2" });
  // The worker has a heartbeat but no subscriptions.
  const link = await openConnection({ servers: fleet.servers, as: "nurse" }, "worker");
  const stop = beat(link, "h3");
  try {
    await until("a warning is shown", async () => (await branch.sessions({ live: true })).warnings.length > 0);
    const { sessions, warnings } = await branch.sessions({ live: true });
    assert.deepEqual(ids(sessions), [far.id]);
    assert.match(warnings[0] ?? "", /The worker on h3 did not respond/);
  } finally {
    await stop();
    await link.nc.close();
  }
  await far.kill();
});

test("a listing names workers of a release that does not support listings", { skip }, async () => {
  const link = await openConnection({ servers: fleet.servers, as: "elder" }, "worker");
  const error = { type: "SessionNotFound", message: "elder has no session", recovery: [] };
  link.nc.subscribe("sp.main.ctl.elder.*.sessions", {
    callback: (_, message) => {
      message.respond(JSON.stringify({ ok: false, error }));
    },
  });
  await link.nc.flush();
  const stop = beat(link, "elder");
  try {
    const said = /^The worker on elder is too old to list the sessions of other gateways/;
    await until("the warning is shown", async () =>
      (await branch.sessions({ live: true })).warnings.some((each) => said.test(each)),
    );
  } finally {
    await stop();
    await link.nc.close();
  }
});

test("a malicious worker can neither hide nor take over sessions of others", { skip }, async () => {
  const [own, far] = [await branch.start({ command: "sleep 1000" }), await office.start({ command: "sleep 1000" })];
  const [shown] = await listed(branch, { others: true, live: true });
  assert.equal(shown?.id, far.id);
  const row = (changes: object) => ({ session: { ...shown, ...changes }, gateway: "office", attempt: 1 });
  const newest = idAt(Date.now() + 60_000);
  let answer: unknown;
  const link = await openConnection({ servers: fleet.servers, as: "liar" }, "worker");
  await answerLists(link.nc, "liar", () => answer);
  const stop = beat(link, "liar");
  try {
    answer = { rows: [row({ id: newest })], more: false, total: 1 };
    await until("the malicious worker's row is listed", async () =>
      ids(await listed(branch, { live: true })).includes(newest),
    );
    answer = { rows: [row({ id: own.id, name: "taken-over" })], more: false, total: 1 };
    assert.deepEqual(
      ids(await listed(branch, { live: true })),
      [far.id, own.id],
      "a gateway's own sessions come from its own records",
    );
    answer = { rows: [{ ...row({ name: "taken-over" }), attempt: 3 }], more: false, total: 1 };
    const [still] = await listed(branch, { others: true, live: true });
    assert.deepEqual([still?.name, still?.host], [far.name, shown?.host], "the host comes from the registry");
    assert.equal((await branch.find(far.id)).name, far.name);
    answer = { rows: [row({ id: newest, agent: "default" })], more: true, total: 1 };
    const builder = branch.acting({ agent: "builder", channel: "test" });
    assert.deepEqual(await listed(builder, { live: true }), [], "rows of other agents are dropped");
    assert.deepEqual(
      ids(await listed(branch, { live: true })),
      [newest, far.id, own.id],
      "`more` is ignored if the page is not full",
    );
    answer = { rows: [row({ id: newest }), row({ id: newest })], more: true, total: 2 };
    const page = await branch.sessions({ live: true, limit: 2 });
    assert.deepEqual(ids(page.sessions), [newest, far.id], "duplicates are dropped");
    const rest = await branch.sessions({ live: true, limit: 2, before: far.id });
    assert.deepEqual([ids(rest.sessions), rest.next], [[own.id], null], "the duplicate is not on the next page");
    answer = { rows: [row({ id: NEVER })], more: true, total: 1 };
    assert.deepEqual(ids(await listed(branch, { live: true, limit: 1 })), [far.id], "IDs from the future are dropped");
    for (const wrong of [
      { id: "../../etc/passwd" },
      { name: "x\u001b[2J" },
      { agent: "x\u001b[2J" },
      { signal: "\u001b[2J" },
      { pid: -1 },
      { status: "fine" },
      { startedAt: "" },
    ]) {
      answer = { rows: [row(wrong)], more: false, total: 1 };
      const { sessions, warnings } = await branch.sessions({ live: true });
      assert.deepEqual([ids(sessions), warnings.length], [[far.id, own.id], 1], JSON.stringify(wrong));
    }
  } finally {
    await stop();
    await link.nc.close();
    await own.kill();
    await far.kill();
  }
});

test("errors of a worker reach the caller, except HostSilent, which is retried", { skip }, async () => {
  const far = await office.start({ command: "sleep 1000" });
  const [shown] = await listed(branch, { others: true, live: true });
  await far.kill();
  const link = await openConnection({ servers: fleet.servers, as: "grim" }, "worker");
  const id = idAt(Date.now());
  let changes: object = {};
  const row = () => ({ session: { ...shown, id, ...changes }, gateway: "office", attempt: 1 });
  await answerLists(link.nc, "grim", () => ({ rows: [row()], more: false, total: 1 }));
  const answers: Record<string, object> = {};
  const asked: string[] = [];
  link.nc.subscribe("sp.main.ctl.grim.*.*", {
    callback: (_, message) => {
      const operation = message.subject.split(".").at(-1) ?? "";
      if (operation === "sessions") return;
      asked.push(operation);
      message.respond(JSON.stringify(answers[operation] ?? { ok: false, error: { ...refused, type: "HostSilent" } }));
    },
  });
  await link.nc.flush();
  const refused = { type: "CommandDenied", message: "no", recovery: [] };
  const stop = beat(link, "grim");
  try {
    await until("the session is listed", async () =>
      (await listed(branch, { live: true })).some((each) => each.id === id),
    );
    answers.waitFor = { ok: false, error: refused };
    await assert.rejects((await branch.find(id)).wait(), { type: "CommandDenied" });
    answers.waitFor = { ok: false, error: { ...refused, type: "HostSilent" } };
    const waiting = (await branch.find(id)).wait();
    await until("the request is repeated", () => asked.filter((each) => each === "waitFor").length >= 3);
    changes = { status: "completed", lingering: false, exitCode: 0 };
    assert.equal((await waiting).status, "completed");
    // Policy for input depends on whether the session has a terminal. If the row does not say, the worker is asked.
    changes = { capture: "merged", pty: null };
    answers.inputState = { ok: false, error: refused };
    answers.write = { ok: true, value: { taken: 2, hidden: false } };
    await assert.rejects(async () => (await branch.find(id)).write("x\n"), { type: "CommandDenied" });
    assert.ok(!asked.includes("write"));
    changes = { capture: "apart", pty: null };
    await (await branch.find(id)).write("x\n");
    assert.ok(asked.includes("write"));
  } finally {
    await stop();
    await link.nc.close();
  }
});

test("the HTTP API and the command line show sessions of other gateways", { skip }, async () => {
  const far = await office.start({ command: "echo here; sleep 1000", name: "shown" });
  const service = await TestService.start({ opened: branch, fixture: branchFixture });
  const box = new Sandbox();
  try {
    const answer = await service.json<SessionList>("operator", "/v1/sessions?live=true");
    const { sessions, fleet: inFleet } = answer;
    assert.deepEqual([sessions[0]?.id, sessions[0]?.gateway, inFleet], [far.id, "office", true]);
    const say = (...args: string[]) => box.run(["--fleet", `${fleet.servers}?as=desk`, ...args]);
    const listedThere = await say("ps");
    assert.match(listedThere.stdout, new RegExp(`^${far.id}\\tshown\\trunning\\t.*\\th[12]$`, "m"), listedThere.stderr);
    assert.equal((await say("ps", "--own")).stdout, "");
    assert.equal((await say("logs", "shown")).stdout, "here\n");
    const refused = await say("rm", "-f", "shown");
    assert.match(refused.stderr, /belongs to the gateway `office`/);
    assert.equal((await say("kill", "shown")).code, 0);
    assert.equal((await far.wait()).status, "killed");
  } finally {
    await service.close();
    box.remove();
  }
});
