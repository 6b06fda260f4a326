import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { after, test } from "node:test";
import type { Approval } from "../../../src/core/approval.ts";
import { type Connected, ERAS, type Era, McpFixture, RawClient } from "../../fixtures/mcp.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new McpFixture({ ask: "always" });
after(() => fixture.close());

type Answer = { action: "accept" | "decline" | "cancel"; content?: Record<string, string> };
type Failure = { type: string; message: string; recovery: { hint: string }[] };
interface Outcome {
  output: unknown;
  error: Failure | undefined;
}

/** Connects a client whose user responds to forms with `answer`. */
async function withUser(era: Era, answer: (message: string) => Answer | Promise<Answer>, ...args: string[]) {
  const connected = await fixture.stdio(args, { era, capabilities: { elicitation: {} } });
  const forms: { message: string; requestedSchema: unknown }[] = [];
  connected.client.setRequestHandler("elicitation/create", async ({ params }) => {
    if (!("requestedSchema" in params)) throw new Error("a form was expected");
    forms.push(params);
    return answer(params.message);
  });
  return { ...connected, forms };
}

async function bash({ client }: Connected, command: string): Promise<Outcome> {
  const call = { name: "Bash", arguments: { command, description: "to try it" } };
  const { structuredContent } = await client.callTool(call, { timeout: 120_000 });
  const { output, error } = structuredContent as { output?: unknown; error?: Failure };
  return { output, error };
}

async function approvals(): Promise<Approval[]> {
  return JSON.parse(await fixture.run("approvals", "--all", "--json")) as Approval[];
}

const once: Answer = { action: "accept", content: { decision: "once" } };

for (const era of ERAS) {
  test(`the host's user sees the complete command and approves it (${era})`, async () => {
    const user = await withUser(era, () => once);
    const command = `echo ${era} # ${"x".repeat(500)} \u202e end`;
    const { output } = await bash(user, command);
    assert.equal(output, `${era}\n`);
    const [form] = user.forms;
    assert.equal(user.forms.length, 1);
    // Wrapped lines continue with a marker.
    const shown = form?.message.replaceAll("\n┆ ", "") ?? "";
    assert.ok(shown.includes(`│ ${command.replace("\u202e", "‹U+202E›")}`), form?.message);
    assert.ok(shown.includes("to try it"));
    const [approval] = (await approvals()).filter(({ request }) => request.command.text.startsWith(`echo ${era}`));
    assert.equal(approval?.status, "used");
    const [decision] = approval?.decisions ?? [];
    assert.equal(decision?.channel, "mcp-host");
    assert.equal(decision?.who, userInfo().username);
    await user.close();
  });

  test(`a denial passes the user's reason to the agent (${era})`, async () => {
    const file = fixture.fixture.path(`denied-${era}`);
    const reasoned = await withUser(era, () => ({
      action: "accept",
      content: { decision: "deny", reason: "not today" },
    }));
    const { error } = await bash(reasoned, `touch ${file}`);
    assert.equal(error?.type, "CommandDenied");
    assert.match(error?.message ?? "", /not today/);
    await reasoned.close();
    const declined = await withUser(era, () => ({ action: "decline" }));
    assert.equal((await bash(declined, `touch ${file}`)).error?.type, "CommandDenied");
    assert.ok(!existsSync(file));
    await declined.close();
  });

  test(`a cancelled or invalid form leaves the request pending (${era})`, async () => {
    const file = fixture.fixture.path(`closed-${era}`);
    for (const answer of [
      { action: "cancel" },
      { action: "accept" },
      { action: "accept", content: { decision: "yes" } },
    ] as Answer[]) {
      const user = await withUser(era, () => answer, "--answer-within", "200ms");
      const { error } = await bash(user, `touch ${file}`);
      // A client that validates the form may reject an invalid response itself.
      assert.ok(error === undefined || error.type === "ApprovalPending", error?.message);
      await user.close();
    }
    assert.ok(!existsSync(file));
  });

  test(`\`always\` is offered where possible and avoids further requests (${era})`, async () => {
    fixture.configure({ security: "allowlist" });
    const user = await withUser(era, () => ({ action: "accept", content: { decision: "always" } }));
    const command = `/usr/bin/id -${era === "2025" ? "u" : "g"}`;
    assert.equal((await bash(user, command)).error, undefined);
    assert.equal((await bash(user, command)).error, undefined);
    assert.equal(user.forms.length, 1);
    await user.close();
    fixture.configure({ ask: "always" });
  });

  test(`a client without forms learns how a person can decide, and can wait for the decision (${era})`, async () => {
    const client = await fixture.stdio(["--answer-within", "200ms"], { era });
    const command = `echo waited ${era}`;
    const { error } = await bash(client, command);
    assert.equal(error?.type, "ApprovalPending");
    const [, id] = /approval request ([0-9a-f-]{36})/.exec(JSON.stringify(error?.recovery)) ?? [];
    assert.ok(id, JSON.stringify(error));
    const again = await bash(client, command);
    assert.ok(JSON.stringify(again.error).includes(id), "the repeated command did not wait for the same approval");
    await fixture.run("approve", id);
    await client.close();
    const patient = await fixture.stdio([], { era });
    assert.equal((await bash(patient, command)).output, `waited ${era}\n`);
    await patient.close();
  });
}

test("a decision made elsewhere closes the form", async () => {
  const user = await withUser("2025", () => new Promise<Answer>(() => {}));
  const calling = bash(user, "echo elsewhere");
  await until("the form is shown", () => user.forms.length === 1);
  const [, id = ""] = /^id +([0-9a-f-]{36})$/m.exec(user.forms[0]?.message ?? "") ?? [];
  await fixture.run("approve", id);
  assert.equal((await calling).output, "elsewhere\n");
  await user.close();
});

test("a form without a response does not block the call", async () => {
  const user = await withUser("2025", () => new Promise<Answer>(() => {}), "--answer-within", "500ms");
  assert.equal((await bash(user, "echo unanswered")).error?.type, "ApprovalPending");
  await user.close();
});

test("with `--approvals elsewhere` the client receives no form", async () => {
  for (const era of ERAS) {
    const user = await withUser(era, () => once, "--approvals", "elsewhere", "--answer-within", "200ms");
    assert.equal((await bash(user, "echo not you")).error?.type, "ApprovalPending");
    assert.equal(user.forms.length, 0);
    await user.close();
  }
});

test("an agent with the user's name cannot approve its own command", async () => {
  const user = await withUser("2025", () => once, "--agent", userInfo().username, "--answer-within", "2s");
  assert.equal((await bash(user, "echo self")).error?.type, "ApprovalPending");
  assert.equal(user.forms.length, 1);
  await user.close();
});

test("a command that is too long for a form is decided elsewhere", async () => {
  const user = await withUser("2025", () => once, "--answer-within", "200ms");
  const { error } = await bash(user, `echo ${"long ".repeat(10_000)}`);
  assert.equal(error?.type, "ApprovalPending");
  assert.equal(user.forms.length, 0);
  await user.close();
});

test("a decision on one command does not apply to another", async () => {
  const raw = new RawClient(fixture.spawn(["mcp"]));
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  };
  type Question = { resultType: string; inputRequests: Record<string, unknown> };
  const call = async (command: string, inputResponses?: object) => {
    const params = { name: "Bash", arguments: { command, description: "x" }, _meta, inputResponses };
    return (await raw.request("tools/call", params)).result as Question;
  };
  const first = await call("echo harmless");
  assert.equal(first.resultType, "input_required");
  const [id = ""] = Object.keys(first.inputRequests);
  const other = await call("echo harmful", { [id]: once });
  assert.equal(other.resultType, "input_required", "an approval of another command was accepted");
  assert.ok(!Object.hasOwn(other.inputRequests, id));
  const guessed = await call("echo harmful", { approval: once, "": once });
  assert.equal(guessed.resultType, "input_required");
  assert.match(JSON.stringify(await call("echo harmless", { [id]: once })), /"text":"harmless/);
  assert.equal(
    (await call("echo harmless", { [id]: once })).resultType,
    "input_required",
    "an approval was used for a second run",
  );
  assert.equal(await raw.leave(), 0);
});
