import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { AGENT, OTHER_AGENT, TestService } from "../../fixtures/service.ts";
import { until } from "../../fixtures/until.ts";
import { BODIES, type Described, describedOperations, pathOf } from "./described.ts";

let service: TestService;
let all: Described[];
before(async () => {
  // Nothing is approved automatically, so approval requests stay pending.
  service = await TestService.start({ gateway: { approve: async () => null } });
  all = await describedOperations(service);
});
after(() => service.close());

interface Info {
  id: string;
  name: string;
  agent: string;
}

async function asAgent(operation: Described, reference: string): Promise<string> {
  const body = BODIES[operation.id];
  const path = pathOf(operation, reference);
  const response = await service.ask("other", path, { method: operation.method, ...(body ? { body } : {}) });
  const text = `${response.status} ${[...response.headers.keys()].sort()} ${await response.text()}`;
  return text.replaceAll(reference, "ID").replace(/content-length,?/, "");
}

test("an agent cannot find out whether a session of another agent exists", async () => {
  const body = { command: "sleep 60", background: true, name: "secret-work" };
  const mine = await service.json<Info>("agent", "/v1/sessions", { body });
  assert.equal(mine.agent, AGENT);
  const operations = all.filter(({ path }) => path.startsWith("/v1/sessions/{"));
  assert.ok(operations.length >= 14);
  for (const operation of operations) {
    const unknown = await asAgent(operation, "00000000-0000-7000-8000-000000000000");
    assert.match(unknown, /^404 .*SessionNotFound/, operation.id);
    assert.equal(await asAgent(operation, mine.id), unknown, operation.id);
    assert.equal(
      await asAgent(operation, mine.id.slice(0, 18)),
      unknown,
      `${operation.id} reveals the session by a prefix of its id`,
    );
    assert.equal(await asAgent(operation, mine.name), unknown, `${operation.id} reveals the session by its name`);
  }
  const { sessions } = await service.json<{ sessions: Info[] }>("other", "/v1/sessions");
  assert.deepEqual(sessions, []);
  for (const agent of [AGENT, "*", ""]) {
    const found = await service.json<{ sessions: Info[] }>("other", `/v1/sessions?agent=${agent}`);
    assert.deepEqual(found.sessions, [], agent);
  }
  assert.equal(service.gateway.session(mine.id).info().status, "running");
  await service.ask("agent", `/v1/sessions/${mine.id}?force=true`, { method: "DELETE" });
});

test("an agent cannot act as another agent", async () => {
  const body = { command: "true", agent: AGENT };
  const made = await service.json<Info>("other", "/v1/sessions", { body });
  assert.equal(service.gateway.session(made.id).info().agent, OTHER_AGENT);
});

test("an agent sees neither approvals nor audit entries of others, and cannot decide", async () => {
  const asking = { command: "curl -s http://127.0.0.1:1/ | sh", ask: "always", approvalTimeoutMs: 0 };
  const pending = await service.json<{ approvalId: string; status: string }>("agent", "/v1/sessions", { body: asking });
  assert.equal(pending.status, "pending");
  const mine = await service.json<{ approvals: { id: string }[] }>("agent", "/v1/approvals");
  assert.deepEqual(
    mine.approvals.map(({ id }) => id),
    [pending.approvalId],
  );
  const theirs = await service.json<{ approvals: unknown[] }>("other", "/v1/approvals?status=all");
  assert.deepEqual(theirs.approvals, []);
  assert.deepEqual(
    (await service.json<{ approvals: unknown[] }>("other", `/v1/approvals?agent=${AGENT}`)).approvals,
    [],
  );
  const [get] = all.filter(({ id }) => id === "getApproval");
  assert.ok(get);
  const unknown = await asAgent(get, "00000000-0000-7000-8000-000000000000");
  assert.match(unknown, /^404/);
  assert.equal(await asAgent(get, pending.approvalId), unknown);
  const decide = await service.ask("agent", `/v1/approvals/${pending.approvalId}/decision`, {
    body: { decision: "once" },
  });
  assert.equal(decide.status, 403);
  await decide.text();
  const { entries } = await service.json<{ entries: Info[] }>("other", "/v1/audit?limit=1000");
  assert.deepEqual([...new Set(entries.map(({ agent }) => agent))], [OTHER_AGENT]);
  assert.deepEqual((await service.json<{ entries: unknown[] }>("other", `/v1/audit?agent=${AGENT}`)).entries, []);
});

test("a revoked or expired token is rejected, and sessions it started keep running", async () => {
  let secret = "";
  const ask = async () =>
    (await service.ask(null, "/v1/me", { headers: { authorization: `Bearer ${secret}` } })).status;
  let first = 401;
  // The token must be valid long enough to be used once.
  for (let expiresMs = 400; first === 401 && expiresMs < 60_000; expiresMs *= 3) {
    const asked = { name: `short-${expiresMs}`, role: "agent", agent: AGENT, createdBy: "tester", expiresMs } as const;
    ({ secret } = service.tokens.create(asked));
    first = await ask();
  }
  assert.equal(first, 200);
  await until("the token has expired", async () => (await ask()) === 401);
  const kept = service.tokens.create({ name: "kept", role: "operator", agent: "", createdBy: "tester" });
  const headers = { authorization: `Bearer ${kept.secret}` };
  const made = await service.ask(null, "/v1/sessions", { headers, body: { command: "sleep 60", background: true } });
  const { id } = (await made.json()) as Info;
  service.tokens.revoke("kept");
  const kill = await service.ask(null, `/v1/sessions/${id}/signal`, { headers, body: {} });
  assert.equal(kill.status, 401);
  await kill.text();
  assert.equal(service.gateway.session(id).info().status, "running");
  await service.ask("operator", `/v1/sessions/${id}?force=true`, { method: "DELETE" });
});
