import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { McpFixture, RawClient } from "../../fixtures/mcp.ts";
import { type Exchange, type Message, recordings, replay } from "./replay.ts";

const HOSTS = ["claude-code", "cline", "codex", "continue", "copilot", "gemini", "opencode", "qwen"];
const APPROVES = /\bsallyport(?:\.js)?['"]?\s+(?:approve|allow)\b|\/approvals\/[^\s/]+\/\w+/;

const recorded = recordings("mcp");

test("there is a recording of each host", () => {
  assert.deepEqual([...recorded.keys()].sort(), HOSTS);
});

for (const [host, processes] of recorded) {
  test(`serves ${host} as recorded`, async () => {
    const fixture = new McpFixture();
    after(() => fixture.close());
    assert.equal(processes.length, 1);
    const [{ args, lines } = { args: [], lines: [] }] = processes;
    const client = new RawClient(fixture.spawn(args));
    const exchanges = await replay(client, lines as Message[]);
    for (const { request, response } of exchanges) {
      // Hosts probe for features; those we lack are refused in the protocol's way.
      if (request.method === "tools/call") assert.ok(response.result, JSON.stringify(response));
    }
    const tools = (resultOf(exchanges, "tools/list")?.tools ?? []) as { name: string; outputSchema?: object }[];
    const called = new Set(calls(exchanges).map(({ request }) => request.params?.name));
    for (const name of called) assert.ok(tools.some((tool) => tool.name === name && tool.outputSchema === undefined));

    assert.equal(answer(exchanges, "ran-guarded").trimEnd(), "one\ntwo");
    assert.match(answer(exchanges, "ran-asked"), /^Approval required/);
    assert.doesNotMatch(answer(exchanges, "ran-asked"), APPROVES);
    assert.match(answer(exchanges, "ran-blocked"), /^Blocked/);
    const ran = (file: string) => existsSync(join(fixture.fixture.workspace, file));
    assert.deepEqual([ran("ran-guarded"), ran("ran-asked"), ran("ran-blocked")], [true, false, false]);

    const audit = (await fixture.run("audit", "export")).split("\n").map((line) => JSON.parse(line));
    const outcomes = (name: string) => audit.filter(({ summary }) => summary.includes(name)).map((one) => one.outcome);
    assert.ok(audit.every(({ agent }) => agent === host));
    assert.ok(outcomes("ran-guarded").includes("allowed"));
    assert.ok(outcomes("ran-asked").includes("asked"));
    assert.ok(outcomes("ran-blocked").includes("blocked"));
    // A host that declines a form by itself is no person: others can still decide.
    const [approval] = JSON.parse(await fixture.run("approvals", "--all", "--json"));
    assert.equal(approval.status, "pending");
    await client.leave();
  });
}

function calls(exchanges: Exchange[]): Exchange[] {
  return exchanges.filter(({ request }) => request.method === "tools/call");
}

function resultOf(exchanges: Exchange[], method: string): Message["result"] {
  return exchanges.find(({ request, response }) => request.method === method && response.result)?.response.result;
}

/** The text that the model of the host gets for the call of a command. */
function answer(exchanges: Exchange[], command: string): string {
  const call = calls(exchanges).findLast(({ request }) => JSON.stringify(request.params?.arguments).includes(command));
  const { content, structuredContent } = call?.response.result ?? {};
  assert.equal(structuredContent, undefined);
  return (content as { text: string }[]).map(({ text }) => text).join("\n");
}
