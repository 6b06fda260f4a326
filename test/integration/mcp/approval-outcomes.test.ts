/** What the agent learns about its approval requests, in each toolset over stdio. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import type { Approval } from "../../../src/core/approval.ts";
import { type Connected, McpFixture } from "../../fixtures/mcp.ts";

const CONFIG = { ask: "always", toolsets: { exec: true } };
const fixture = new McpFixture(CONFIG);
after(() => fixture.close());

const RUN: Record<string, { tool: string; more: object }> = {
  bash: { tool: "Bash", more: { description: "to try it" } },
  exec: { tool: "execute", more: {} },
  process: { tool: "process.run", more: {} },
  runner: { tool: "run", more: { intent: "to try it", shell: true } },
  shell: { tool: "exec", more: {} },
};

async function call({ client }: Connected, name: string, args: object): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args as Record<string, unknown> }, { timeout: 600_000 });
  const [first] = content as { text: string }[];
  return first?.text ?? "";
}

function run(connected: Connected, toolset: string, command: string, more: object = {}): Promise<string> {
  const { tool = "", more: given = {} } = RUN[toolset] ?? {};
  return call(connected, tool, { command, ...given, ...more });
}

/** Connects a client that does not wait for approvals. */
function impatient(toolset: string): Promise<Connected> {
  return fixture.stdio(["--tools", toolset, "--answer-within", "200ms"]);
}

async function requests(command: string): Promise<Approval[]> {
  const all = JSON.parse(await fixture.run("approvals", "--all", "--json")) as Approval[];
  return all.filter(({ request }) => request.command.text === command);
}

/** The statuses and IDs of the sessions of a command, newest first. */
async function sessions(command: string): Promise<{ id: string; status: string }[]> {
  const lines = (await fixture.run("ps", "-a", "--json")).split("\n").filter((line) => line !== "");
  const all = lines.flatMap((line) => JSON.parse(line)) as { id: string; status: string; command: string }[];
  return all.filter((each) => each.command === command).map(({ id, status }) => ({ id, status }));
}

for (const toolset of Object.keys(RUN)) {
  test(`${toolset}: a denial between two calls reaches the next identical call, once and with its reason`, async () => {
    const client = await impatient(toolset);
    const command = `echo denied ${toolset}`;
    assert.match(await run(client, toolset, command), /ApprovalPending/);
    const [asked] = await requests(command);
    await fixture.run("deny", asked?.id ?? "", "--reason", "use the staging server");
    const denied = await run(client, toolset, command);
    assert.match(denied, /CommandDenied/);
    assert.match(denied, /use the staging server/);
    assert.equal((await requests(command)).length, 1, "the person was asked again");
    assert.match(await run(client, toolset, command), /ApprovalPending/);
    assert.equal((await requests(command)).length, 2);
    await client.close();
  });

  test(`${toolset}: an identical call joins the pending request and its session, which then runs`, async () => {
    const client = await impatient(toolset);
    const command = `echo joined ${toolset}`;
    for (let times = 0; times < 3; times++) assert.match(await run(client, toolset, command), /ApprovalPending/);
    const [waiting, ...others] = await sessions(command);
    assert.equal(waiting?.status, "pending");
    assert.deepEqual(others, []);
    const [asked, ...more] = await requests(command);
    assert.deepEqual(more, []);
    await fixture.run("approve", asked?.id ?? "");
    const patient = await fixture.stdio(["--tools", toolset]);
    assert.match(await run(patient, toolset, command), new RegExp(`joined ${toolset}`));
    assert.deepEqual(await sessions(command), [{ id: waiting?.id, status: "completed" }]);
    await Promise.all([client.close(), patient.close()]);
  });

  test(`${toolset}: a pending answer says why approval is required, within the call's own timeout`, async () => {
    // Without the timeout of the call, this client would wait for ten minutes.
    const client = await fixture.stdio(["--tools", toolset, "--answer-within", "10m"]);
    const text = await run(client, toolset, `echo why ${toolset}`, { timeout: 1 });
    assert.match(text, /ApprovalPending/);
    assert.match(text, /Every command requires approval: `ask` is \\?"always\\?"/);
    await client.close();
  });
}

test("a pending session ends with a denied or expired request, in every listing", async () => {
  const client = await impatient("exec");
  const poll = async (id: string) => await call(client, "process_poll", { session_id: id });
  for (const end of ["denied", "expired"]) {
    const command = `echo ends ${end}`;
    await run(client, "exec", command, { background: true });
    const [waiting] = await sessions(command);
    const [asked] = await requests(command);
    assert.match(await poll(waiting?.id ?? ""), /status: pending/);
    if (end === "denied") await fixture.run("deny", asked?.id ?? "");
    else expireNow(asked?.id ?? "");
    assert.match(await poll(waiting?.id ?? ""), /status: denied/);
    assert.deepEqual(await sessions(command), [{ id: waiting?.id, status: "denied" }]);
    const told = await run(client, "exec", command, { background: true });
    assert.match(told, end === "denied" ? /Denied by/ : /expired without a decision/);
    assert.equal((await requests(command)).length, 1);
    assert.equal((await sessions(command)).length, 1);
  }
  await client.close();
});

/** Sets the expiry of a request to the past. */
function expireNow(id: string): void {
  const database = new DatabaseSync(join(fixture.fixture.state, "sallyport.db"));
  database.prepare("UPDATE approvals SET expires_ms = ? WHERE id = ?").run(Date.now() - 1000, id);
  database.close();
}

test("an operation on a session that waits for approval says that it has not started", async () => {
  const client = await impatient("shell");
  const command = "echo not started yet";
  await run(client, "shell", command, { background: true });
  const [waiting] = await sessions(command);
  const text = await call(client, "process", { action: "write", session_id: waiting?.id, data: "x" });
  assert.match(text, /has not started.*ApprovalPending/s);
  const log = await call(client, "process", { action: "log", session_id: waiting?.id });
  assert.match(log, /no output.*Approval required/s);
  await client.close();
});

test("exec: `always` lets the same command run without another request", async () => {
  fixture.configure({ toolsets: { exec: true } });
  const client = await impatient("exec");
  const command = "/usr/bin/id -u";
  assert.match(await run(client, "exec", command), /ApprovalPending/);
  const [asked] = await requests(command);
  assert.equal(asked?.request.always.ok, true);
  await fixture.run("approve", asked?.id ?? "", "--always");
  const patient = await fixture.stdio(["--tools", "exec"]);
  for (let times = 0; times < 2; times++) assert.match(await run(patient, "exec", command), /exit_code: 0/);
  assert.equal((await requests(command)).length, 1);
  await Promise.all([client.close(), patient.close()]);
  fixture.configure(CONFIG);
});

test("a grant is honoured where `ask` is off, and `always` is not offered where it would not be", async () => {
  fixture.configure({ security: "allowlist" });
  const client = await impatient("shell");
  const command = "/usr/bin/id -g";
  await run(client, "shell", command);
  const [asked] = await requests(command);
  await fixture.run("approve", asked?.id ?? "", "--always");
  await run(client, "shell", command);
  fixture.configure({ security: "allowlist", ask: "off" });
  const patient = await fixture.stdio(["--tools", "shell"]);
  assert.match(await run(patient, "shell", command), /^\d+/);
  assert.match(await run(patient, "shell", "/usr/bin/id -G"), /CommandDenied/);
  fixture.configure(CONFIG);
  const every = await impatient("bash");
  await run(every, "bash", "/usr/bin/id -n");
  const [always] = await requests("/usr/bin/id -n");
  assert.equal(always?.request.always.ok, false, "`ask` is always, so a grant would have no effect");
  await Promise.all([client.close(), patient.close(), every.close()]);
});

test("a command that may run is not reported as denied because its output may not be read", async () => {
  fixture.configure({ toolsets: { exec: true }, permissions: { run: "autonomous", read: "deny" } });
  const client = await fixture.stdio(["--tools", "exec"]);
  const file = fixture.fixture.path("it-ran");
  const text = await run(client, "exec", `touch ${file}; exec sleep 600`, { background: true });
  assert.doesNotMatch(text, /CommandDenied/);
  const [, id = ""] = /session_id: ([0-9a-f-]{36})/.exec(text) ?? [];
  await fixture.run("kill", id);
  assert.ok(existsSync(file));
  await client.close();
  fixture.configure(CONFIG);
});

test("`permissions.read` set to ask does not lift the approval that a tool requires", async () => {
  fixture.configure({ toolsets: { exec: true }, permissions: { run: "autonomous", read: "ask" } });
  const client = await impatient("exec");
  const text = await run(client, "exec", "sleep 0.01");
  const [, id = ""] = /session_id: ([0-9a-f-]{36})/.exec(text) ?? [];
  assert.match(await call(client, "process_manager", { action: "log", session_id: id }), /ApprovalPending/);
  assert.doesNotMatch(await call(client, "process_log", { session_id: id }), /ApprovalPending/);
  await client.close();
  fixture.configure(CONFIG);
});
