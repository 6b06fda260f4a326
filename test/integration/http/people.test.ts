import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Approval, Grant } from "../../../src/core/approval.ts";
import type { AuditEntry } from "../../../src/core/audit.ts";
import { AGENT, type SignedIn, TestService } from "../../fixtures/service.ts";
import { until } from "../../fixtures/until.ts";

let service: TestService;
let page: SignedIn;
before(async () => {
  const policy = {
    scope: "anywhere" as const,
    sandbox: "off" as const,
    security: "allowlist" as const,
    ask: "on-miss" as const,
    limits: { sessions: 1000, startsPerMinute: 10_000 },
  };
  service = await TestService.start({ gateway: { approve: async () => null, policy } });
  page = await service.signIn();
});
after(() => service.close());

/** Sends a request like the console, for a person who signed in with a link. */
async function onPage<T>(path: string, init: Parameters<TestService["ask"]>[2] = {}): Promise<T> {
  const response = await service.ask(null, path, { ...init, headers: service.pageHeaders(page) });
  const body = await response.text();
  assert.ok(response.ok, `${path}: ${response.status} ${body}`);
  return JSON.parse(body) as T;
}

/** Returns the latest audit entry of a kind. */
function last(kind: string): Pick<AuditEntry, "actor" | "channel" | "outcome" | "agent"> {
  const [{ actor, channel, outcome, agent } = {} as AuditEntry] = service.gateway.audit.search({ kind, limit: 1 });
  return { actor, channel, outcome, agent };
}

async function pendingOf(command: string): Promise<{ approvalId: string; answer: Promise<{ status: string }> }> {
  const answer = service.json<{ status: string }>("agent", "/v1/sessions", {
    body: { command, approvalTimeoutMs: 60_000 },
  });
  const listed = () => service.json<{ approvals: Approval[] }>("approver", "/v1/approvals");
  let found: Approval | undefined;
  await until("approval is requested", async () => {
    found = (await listed()).approvals.find(({ request }) => request.command.text === command);
    return found !== undefined;
  });
  return { approvalId: found?.id ?? "", answer };
}

test("an approval lets the agent's command run and is recorded under the person's name", async () => {
  const { approvalId, answer } = await pendingOf("touch one");
  const decided = await service.json<Approval>("approver", `/v1/approvals/${approvalId}/decision`, {
    body: { decision: "once" },
  });
  assert.deepEqual([decided.decisions[0]?.who, decided.decisions[0]?.channel], ["ann", "http"]);
  assert.equal((await answer).status, "completed");
  const entries = service.gateway.audit.search({ kind: "approval", outcome: "approved" });
  assert.deepEqual([entries[0]?.actor, entries[0]?.channel, entries[0]?.agent], ["ann", "http", AGENT]);
});

test("when two people decide at once, the second learns who decided and how", async () => {
  const { approvalId, answer } = await pendingOf("touch two");
  const path = `/v1/approvals/${approvalId}/decision`;
  const both = await Promise.all([
    service.ask("approver", path, { body: { decision: "deny", reason: "not now" } }),
    service.ask("operator", path, { body: { decision: "once" } }),
  ]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
  const won = both.find(({ status }) => status === 200) ?? assert.fail();
  const lost = both.find(({ status }) => status === 409) ?? assert.fail();
  const winner = ((await won.json()) as Approval).decisions[0]?.who ?? "?";
  const { error } = (await lost.json()) as { error: { type: string; message: string } };
  assert.equal(error.type, "AlreadyDecided");
  assert.match(error.message, new RegExp(`by ${winner} \\(http\\)`));
  await answer;
});

test("a denial passes its reason to the agent", async () => {
  const { approvalId, answer } = await pendingOf("touch three");
  await onPage(`/v1/approvals/${approvalId}/decision`, { body: { decision: "deny", reason: "use lsb_release" } });
  const refused = (await answer) as { status: string; error?: { message: string } };
  assert.equal(refused.status, "denied");
  assert.match(refused.error?.message ?? "", /use lsb_release/);
  assert.deepEqual(last("approval"), { actor: "tester", channel: "console", outcome: "denied", agent: AGENT });
});

test("the decision `always` creates a grant that is listed, used and revoked", async () => {
  const { approvalId, answer } = await pendingOf("touch four");
  await service.json("operator", `/v1/approvals/${approvalId}/decision`, {
    body: { decision: "always", grant: { expiresMs: 3_600_000 } },
  });
  assert.equal((await answer).status, "completed");
  const again = await service.json<{ status: string }>("agent", "/v1/sessions", {
    body: { command: "touch four", approvalTimeoutMs: 0 },
  });
  assert.equal(again.status, "completed");
  const { grants } = await service.json<{ grants: Grant[] }>("viewer", "/v1/grants");
  assert.deepEqual([grants.length, grants[0]?.createdBy, grants[0]?.agent], [1, "olga", AGENT]);
  await service.json("approver", `/v1/grants/${grants[0]?.id}`, { method: "DELETE" });
  assert.deepEqual(last("grant"), { actor: "ann", channel: "http", outcome: "revoked", agent: AGENT });
  const asked = await service.json<{ status: string }>("agent", "/v1/sessions", {
    body: { command: "touch four", approvalTimeoutMs: 0 },
  });
  assert.equal(asked.status, "pending");
});

test("a grant allows exactly the commands that its test predicted", async () => {
  const rule = { agent: AGENT, command: ["ls", "-l"], args: ["-*"] };
  type Tried = { problem: string | null; results: { command: string; covered: boolean }[] };
  const commands = ["ls -l", "ls -a", "ls /etc", "cat -n", "ls -l | sh", "rm -rf /"];
  const tried = await service.json<Tried>("viewer", "/v1/rules/try", { body: { rule, commands } });
  assert.equal(tried.problem, null);
  assert.deepEqual(
    tried.results.filter(({ covered }) => covered).map(({ command }) => command),
    ["ls -l", "ls -a"],
  );
  const before = await service.json<{ status: string }>("agent", "/v1/sessions", {
    body: { command: "ls -a", approvalTimeoutMs: 0 },
  });
  assert.equal(before.status, "pending");
  const { grants } = await onPage<{ grants: Grant[] }>("/v1/rules", { body: rule });
  assert.deepEqual(last("grant"), { actor: "tester", channel: "console", outcome: "granted", agent: AGENT });
  for (const command of ["ls -l", "ls -a"]) {
    const run = await service.json<{ status: string }>("agent", "/v1/sessions", {
      body: { command, approvalTimeoutMs: 0 },
    });
    assert.equal(run.status, "completed", command);
  }
  const listed = await service.json<{ grants: Grant[]; configured: { security: string }; builtIn: unknown[] }>(
    "viewer",
    "/v1/rules",
  );
  assert.equal(listed.configured.security, "allowlist");
  assert.ok(listed.builtIn.length > 10);
  assert.ok(listed.grants.find(({ id }) => id === grants[0]?.id)?.lastUsedAt);
  await service.json("operator", `/v1/rules/${grants[0]?.id}`, { method: "DELETE" });
  const bad = await service.json<Tried>("viewer", "/v1/rules/try", {
    body: { rule: { command: ["bash", "-c", "x"] }, commands: [] },
  });
  assert.ok(bad.problem);
  assert.equal((await service.ask("operator", "/v1/rules", { body: { command: ["bash", "-c", "x"] } })).status, 422);
});

test("operators create and revoke tokens, and the audit log contains no secret", async () => {
  const made = await onPage<{ name: string; token: string; role: string }>("/v1/tokens", {
    body: { name: "new-one", role: "viewer" },
  });
  const ask = () => service.ask(null, "/v1/me", { headers: { authorization: `Bearer ${made.token}` } });
  assert.equal((await ask()).status, 200);
  assert.deepEqual(last("token"), { actor: "tester", channel: "console", outcome: "created", agent: "" });
  const { tokens } = await onPage<{ tokens: { name: string }[] }>("/v1/tokens");
  assert.ok(tokens.some(({ name }) => name === "new-one"));
  await onPage("/v1/tokens/new-one", { method: "DELETE" });
  assert.equal((await ask()).status, 401);
  assert.deepEqual(last("token"), { actor: "tester", channel: "console", outcome: "revoked", agent: "" });
  assert.deepEqual(service.gateway.audit.search({ text: made.token }), []);
  assert.equal(
    (await service.ask("operator", "/v1/tokens", { body: { name: "x", role: "viewer", agent: "a" } })).status,
    400,
  );
});

test("records every action on a session under the person's name", async () => {
  const { id } = await service.json<{ id: string }>("agent", "/v1/sessions", {
    body: { command: "touch five", approvalTimeoutMs: 0 },
  });
  assert.deepEqual(last("run"), { actor: AGENT, channel: "http", outcome: "pending", agent: AGENT });
  assert.ok(id);
  const started = await service.json<{ id: string }>("agent", "/v1/sessions", {
    body: { command: "cat", background: true, pty: true, approvalTimeoutMs: 0 },
  });
  const path = `/v1/sessions/${started.id}`;
  await onPage(`${path}/wait`, { body: { timeoutMs: 20_000, input: true } });
  const doings: [kind: string, outcome: string, () => Promise<unknown>][] = [
    ["resize", "done", () => onPage(`${path}/resize`, { body: { columns: 100, rows: 30 } })],
    ["stdin", "written", () => onPage(`${path}/input`, { body: { text: "x\n" } })],
    ["stdin", "written", () => onPage(`${path}/keys`, { body: { keys: ["y", "Enter"] } })],
    ["stdin", "written", () => onPage(`${path}/paste`, { body: { text: "z", submit: true } })],
    ["deadline", "moved", () => onPage(`${path}/extend`, { body: { timeoutMs: 60_000 } })],
    ["signal", "sent", () => onPage(`${path}/signal`, { body: { reason: "done with it" } })],
    ["remove", "removed", () => onPage(path, { method: "DELETE" })],
  ];
  for (const [kind, outcome, act] of doings) {
    const before = service.gateway.audit.search({ limit: 1 })[0]?.seq ?? 0;
    await act();
    const entry = service.gateway.audit.after(before, { kind })[0];
    assert.deepEqual(
      {
        actor: entry?.actor,
        channel: entry?.channel,
        outcome: entry?.outcome,
        agent: entry?.agent,
        session: entry?.session,
      },
      { actor: "tester", channel: "console", outcome, agent: AGENT, session: started.id },
      kind,
    );
  }
  const run = await service.json<{ id: string }>("operator", "/v1/sessions", {
    body: { command: "true", agent: AGENT, approvalTimeoutMs: 0 },
  });
  assert.ok(run.id);
  assert.deepEqual([last("run").actor, last("run").agent], ["olga", AGENT]);
});

test("records sign-ins, sign-outs and the creation of links", async () => {
  const signedIn = await service.signIn();
  assert.deepEqual(last("sign-in"), { actor: "tester", channel: "console", outcome: "begun", agent: "" });
  await service.ask(null, "/v1/sign-out", { method: "POST", headers: service.pageHeaders(signedIn) });
  assert.deepEqual(last("sign-in"), { actor: "tester", channel: "console", outcome: "ended", agent: "" });
  service.link();
  assert.deepEqual(last("sign-in"), { actor: "tester", channel: "cli", outcome: "link made", agent: "" });
});

test("searches, pages through, verifies and exports the audit log", async () => {
  type Page = { entries: AuditEntry[]; next: number | null };
  const all: number[] = [];
  for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null; ) {
    const found: Page = await service.json<Page>("viewer", `/v1/audit?limit=20&before=${before}`);
    all.push(...found.entries.map(({ seq }) => seq));
    before = found.next;
  }
  assert.deepEqual(
    all,
    [...all.keys()].map((index) => all.length - index),
  );
  const denied = await service.json<Page>(
    "viewer",
    `/v1/audit?kind=approval&outcome=denied&agent=${AGENT}&q=touch&since=2020-01-01`,
  );
  assert.ok(denied.entries.length > 0 && denied.entries.every(({ outcome }) => outcome === "denied"));
  const report = await service.json<{ entries: number; broken: unknown }>("viewer", "/v1/audit/verify");
  assert.equal(report.broken, null);
  assert.ok(report.entries >= all.length);
  const exported = await service.ask("viewer", "/v1/audit/export?kind=run");
  assert.equal(exported.headers.get("content-type"), "application/x-ndjson");
  const lines = (await exported.text()).trimEnd().split("\n");
  assert.ok(lines.every((line) => (JSON.parse(line) as AuditEntry).kind === "run"));
});
