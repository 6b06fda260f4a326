/** One agent cannot look like another one, or like a person who approves its commands. */
import assert from "node:assert/strict";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { TestService } from "../../fixtures/service.ts";

let fixture: GatewayFixture;
before(() => {
  fixture = new GatewayFixture();
});
after(() => fixture.close());

const UNDECIDED = async () => null;

test("a gateway refuses a look-alike agent name", async () => {
  for (const agent of ["builder-1 ", "builder\u20101", "bui\u202elder", ""]) {
    await assert.rejects(fixture.open({ agent }), { type: "InvalidRequest", message: /is not a valid agent name/ });
  }
});

test("names that differ in case are one agent: sessions, quota, temporary directory and grants", async () => {
  const policy = { scope: "anywhere", sandbox: "off", limits: { sessions: 1, startsPerMinute: 1000 } } as const;
  const [upper, lower] = [
    await fixture.open({ agent: "Builder-1", policy }),
    await fixture.open({ agent: "builder-1", policy }),
  ];
  const session = await upper.start({ command: "sleep 100" });
  assert.deepEqual(
    lower.list({ agent: "BUILDER-1", live: true }).map(({ id }) => id),
    [session.id],
  );
  const refused = await lower.run({ command: "true" });
  assert.equal(refused.error?.type, "ResourceLimitExceeded");
  await session.kill({ signal: "SIGKILL" });
  const tmp = async (gateway: typeof upper) => (await gateway.run({ command: "echo $TMPDIR" })).stdout;
  assert.equal(await tmp(upper), await tmp(lower));
});

test("settings apply to an agent whatever the case of its name", async () => {
  const configuration = join(fixture.folder, "sallyport.json");
  writeFileSync(configuration, JSON.stringify({ sandbox: "off", agents: { "Strict-One": { security: "deny" } } }));
  const gateway = await fixture.open({ agent: "strict-one", configuration });
  assert.equal((await gateway.run({ command: "true" })).error?.type, "CommandDenied");
  writeFileSync(configuration, JSON.stringify({ agents: { a: {}, A: {} } }));
  await assert.rejects(fixture.open({ configuration }), { type: "InvalidConfiguration", message: /case is ignored/ });
});

test("an agent's name in another case cannot decide its requests", async () => {
  const gateway = await fixture.open({ agent: "builder-2", approve: UNDECIDED });
  const { approvalId } = await gateway.run({ command: "true", ask: "always" }, { approvalTimeoutMs: 0 });
  const decide = (who: string) =>
    gateway.approvals.decide(approvalId ?? "", { decision: "once", who, channel: "library" });
  for (const who of ["builder-2", "Builder-2", "BUILDER-2"]) {
    assert.throws(() => decide(who), { type: "SelfApproval" }, who);
  }
  for (const who of ["\u0430nn", "ann\u200b", "builder-2 "])
    assert.throws(() => decide(who), { type: "InvalidRequest" }, who);
  assert.throws(() => decide("Agent:x"), { type: "SelfApproval" });
  assert.equal(decide("ann").status, "approved");
});

test("a person counts once in a quorum, whatever the case of the name", async () => {
  const quorum = { rule: "majority" as const, approvers: ["ann", "bo", "cy"] };
  const gateway = await fixture.open({ approve: UNDECIDED, policy: { sandbox: "off", approvals: { quorum } } });
  const { approvalId } = await gateway.run({ command: "true", ask: "always" }, { approvalTimeoutMs: 0 });
  const decide = (who: string) =>
    gateway.approvals.decide(approvalId ?? "", { decision: "once", who, channel: "library" });
  assert.equal(decide("Ann").status, "pending");
  assert.throws(() => decide("ann"), { type: "AlreadyDecided" });
  const twice = { rule: "majority" as const, approvers: ["ann", "Ann"] };
  await assert.rejects(fixture.open({ policy: { approvals: { quorum: twice } } }), { type: "InvalidConfiguration" });
});

test("tokens: agents in lower case, and names that differ in more than case", async () => {
  const service = await TestService.start();
  try {
    const create = (body: object) =>
      service.json<{ agent?: string; error?: { type: string } }>("operator", "/v1/tokens", { body });
    assert.equal((await create({ name: "one", role: "agent", agent: "Builder-1" })).agent, "builder-1");
    assert.equal((await create({ name: "two", role: "agent", agent: "builder\u20101" })).error?.type, "InvalidRequest");
    assert.equal((await create({ name: "ONE", role: "viewer" })).error?.type, "NameInUse");
    assert.equal((await create({ name: "three.", role: "viewer" })).error?.type, "InvalidRequest");
    const look = await service.json<{ error?: { type: string } }>("operator", "/v1/sessions", {
      body: { command: "true", agent: "builder-1 " },
    });
    assert.equal(look.error?.type, "InvalidRequest");
    const listed = await service.json<{ approvals: unknown[] }>("agent", "/v1/approvals?agent=BUILDER");
    assert.deepEqual(listed.approvals, []);
  } finally {
    await service.close();
  }
});

test("sessions of an earlier version stay readable", async () => {
  const own = new GatewayFixture();
  try {
    const first = await own.open({ agent: "old" });
    const { id } = await first.run({ command: "echo kept" });
    const strange = await first.run({ command: "echo strange" });
    await first.close();
    // The same sessions in a database of the version that stored names as they were given.
    const path = join(own.state, "sallyport.db");
    const database = new DatabaseSync(join(own.folder, "old.db"));
    database.exec(readFileSync(new URL("../../fixtures/database-before-agent-names.sql", import.meta.url), "utf8"));
    const columns = database
      .prepare("SELECT name FROM pragma_table_info('sessions')")
      .all()
      .map(({ name }) => name);
    database.prepare("ATTACH ? AS current").run(path);
    database.exec(`INSERT INTO sessions (${columns}) SELECT ${columns} FROM current.sessions; DETACH current`);
    database.prepare("UPDATE sessions SET agent = 'Old' WHERE id = ?").run(id);
    database.prepare("UPDATE sessions SET agent = 'old agent ' WHERE id = ?").run(strange.id);
    database.close();
    for (const end of ["-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
    renameSync(join(own.folder, "old.db"), path);
    const second = await own.open({ agent: "OLD" });
    assert.deepEqual(
      second.list({ agent: "Old" }).map((session) => session.id),
      [id],
    );
    assert.deepEqual(
      second.list({ agent: "old agent " }).map((session) => session.id),
      [strange.id],
    );
  } finally {
    await own.close();
  }
});
