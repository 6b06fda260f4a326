/** A command that has found the token of a person cannot use it, however it sends the request (invariant 7). */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { copyFileSync } from "node:fs";
import { text as read } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import type { AuditEntry } from "../../../src/core/audit.ts";
import type { RunRequest } from "../../../src/core/request.ts";
import { compile } from "../../fixtures/compile.ts";
import { TestService } from "../../fixtures/service.ts";
import { until } from "../../fixtures/until.ts";

let service: TestService;
let client: string;
before(async () => {
  const policy = { scope: "anywhere", sandbox: "off", limits: { sessions: 1000, startsPerMinute: 10_000 } } as const;
  service = await TestService.start({ gateway: { approve: async () => null, policy } });
  // In the workspace, so that sandboxed commands can run it.
  client = service.fixture.path("http-client");
  copyFileSync(compile("http-client"), client);
});
after(() => service.close());

/** Returns the text of a request that would change something. */
function post(path: string, headers: Record<string, string>, body: unknown): string {
  const text = JSON.stringify(body);
  const all = { host: new URL(service.url).host, connection: "close", "content-type": "application/json", ...headers };
  const lines = Object.entries({ ...all, "content-length": String(Buffer.byteLength(text)) });
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${text}`;
}

const bearer = (role: "approver" | "operator" | "agent") => ({ authorization: `Bearer ${service.secrets[role]}` });
const port = () => new URL(service.url).port;

async function pending(command: string): Promise<string> {
  const { approvalId } = await service.gateway.run({ command, ask: "always" }, { approvalTimeoutMs: 0 });
  return approvalId ?? "";
}

function refused(): AuditEntry[] {
  return service.gateway.audit.search({ kind: "sign-in", outcome: "refused", limit: 100 });
}

async function send(text: string, how = "open", request: Pick<RunRequest, "sandbox"> = {}): Promise<string> {
  const { stdout } = await service.gateway.run({ command: client, args: [how, port()], stdin: { text }, ...request });
  return stdout;
}

/** Sends a request from a process that was not started by the gateway. */
function sendAsPerson(text: string): Promise<string> {
  const { stdin, stdout } = spawn(client, ["open", port()], { stdio: ["pipe", "pipe", "inherit"] });
  stdin.end(text);
  return read(stdout);
}

/** Returns the number of requests for decisions that the service has handled. */
async function decisions(): Promise<number> {
  const metrics = await (await service.ask("viewer", "/metrics")).text();
  const counts = metrics.matchAll(/^sallyport_http_requests_total\{[^}]*operation="decide"[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

test("a person's process can decide", async () => {
  const id = await pending("echo 1");
  const text = post(`/v1/approvals/${id}/decision`, bearer("approver"), { decision: "once" });
  assert.match(await sendAsPerson(text), /^HTTP\/1.1 200/);
  const [entry] = service.gateway.audit.search({ kind: "approval", outcome: "approved", limit: 1 });
  assert.match(String((entry?.detail as { peer?: string } | undefined)?.peer), /^http-client \(pid \d+\)$/);
  assert.equal("peer" in (service.gateway.approvals.get(id).decisions[0] ?? {}), false, "agents can read decisions");
});

for (const how of ["open", "detached", "thread", "undumpable"]) {
  test(`a command cannot decide with an approver's token (${how})`, async () => {
    const id = await pending(`echo ${how}`);
    const text = post(`/v1/approvals/${id}/decision`, bearer("approver"), { decision: "once" });
    assert.match(await send(text, how), /^HTTP\/1.1 403[\s\S]*"type":"SelfApproval"/);
    assert.equal(service.gateway.approvals.get(id).status, "pending");
  });
}

test("a sandboxed command cannot decide with an approver's token", async () => {
  const id = await pending("echo sandboxed");
  const text = post(`/v1/approvals/${id}/decision`, bearer("approver"), { decision: "once" });
  assert.match(await send(text, "open", { sandbox: "workspace-write" }), /^HTTP\/1.1 403[\s\S]*"type":"SelfApproval"/);
  assert.equal(service.gateway.approvals.get(id).status, "pending");
});

for (const how of ["in flight", "gone"]) {
  test(`a connection that no process owns cannot decide (${how})`, async () => {
    const id = await pending(`echo ${how}`);
    const text = post(`/v1/approvals/${id}/decision`, bearer("approver"), { decision: "once" });
    const before = await decisions();
    const session = await service.gateway.start({ command: client, args: [how, port()], stdin: { text } });
    await until("the service has handled the request", async () => (await decisions()) > before);
    assert.equal(service.gateway.approvals.get(id).status, "pending");
    if (how === "in flight") await session.kill({ signal: "SIGKILL" });
    else await session.wait();
  });
}

// In a container, the service cannot see all processes, and takes a connection without a visible owner for a remote one.
const container = process.getuid?.() === 0 ? false : "needs root, to create a PID namespace";
test("a connection that no process owns cannot decide inside a container", { skip: container }, async () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = ["--test", "--test-name-pattern=in flight", import.meta.filename];
  await promisify(execFile)("unshare", ["--pid", "--fork", "--mount-proc", process.execPath, ...run], { env });
});

test("a command cannot act as an operator or sign in", async () => {
  const attempts: [string, string][] = [
    ["a token", post("/v1/tokens", bearer("operator"), { name: "mine", role: "operator" })],
    ["a command", post("/v1/sessions", bearer("operator"), { command: "true" })],
    ["a sign-in with a token", post("/v1/sign-in", {}, { secret: service.secrets.approver })],
    ["a sign-in with a link", post("/v1/sign-in", {}, { secret: service.link() })],
  ];
  for (const [what, text] of attempts) assert.match(await send(text), /^HTTP\/1.1 403/, what);
  const page = await service.signIn();
  const id = await pending("echo page");
  const stolen = post(`/v1/approvals/${id}/decision`, service.pageHeaders(page), { decision: "once" });
  assert.match(await send(stolen), /^HTTP\/1.1 403/, "a key");
});

test("a refusal is recorded with the process, but not every one of a loop", async () => {
  const entries = refused();
  assert.ok(entries.length >= 1 && entries.length <= 3, `${entries.length} entries`);
  const { summary, detail } = entries.at(-1) as AuditEntry;
  assert.match(
    summary,
    /POST \/v1\/approvals\/.* with the credentials of ann, from a command of a session, http-client/,
  );
  assert.equal((detail as { peer: { kind: string } }).peer.kind, "session");
});

test("a command can use the token of its agent", async () => {
  assert.match(await send(post("/v1/sessions", bearer("agent"), { command: "true" })), /^HTTP\/1.1 20/);
});

test("a command cannot answer an approval form over MCP", async () => {
  const headers = { ...bearer("agent"), accept: "application/json, text/event-stream" };
  const answer = { jsonrpc: "2.0", id: 1, result: { action: "accept", content: { decision: "once" } } };
  assert.match(await send(post("/mcp", headers, answer)), /^HTTP\/1.1 403[\s\S]*Only a person can decide/);
  assert.doesNotMatch(await sendAsPerson(post("/mcp", headers, answer)), /Only a person can decide/);
});
