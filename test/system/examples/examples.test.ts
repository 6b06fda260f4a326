import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { ZodType } from "zod";
import * as anthropic from "../../../examples/anthropic.ts";
import { McpHost } from "../../../examples/mcp.ts";
import * as openai from "../../../examples/openai.ts";
import { aiSdkTools } from "../../../examples/vercel-ai-sdk.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { ENTRY } from "../../fixtures/sallyport.ts";

/** The models are stubs whose responses depend only on the number of requests. No network is used. */

const fixture = new GatewayFixture();
let gateway: Gateway;
before(async () => {
  gateway = await fixture.open();
  writeFileSync(fixture.path("answer.txt"), "42\n");
});
after(() => fixture.close());

const COMMAND = { command: "cat answer.txt", description: "Read the answer" };

test("the Anthropic example returns output, blocked commands and unknown tools as tool results", async () => {
  const seen: anthropic.Request[] = [];
  const text = await anthropic.converse(gateway, "bash", "What is the answer?", async (request) => {
    seen.push(structuredClone(request));
    if (seen.length > 1) return { stop_reason: "end_turn", content: [{ type: "text", text: "It is 42." }] };
    const calls = [
      { type: "tool_use" as const, id: "a", name: "Bash", input: COMMAND },
      {
        type: "tool_use" as const,
        id: "b",
        name: "Bash",
        input: { command: "rm -rf /", description: "Delete everything" },
      },
      { type: "tool_use" as const, id: "c", name: "Nothing", input: {} },
    ];
    return { stop_reason: "tool_use", content: calls };
  });
  assert.equal(text, "It is 42.");
  assert.deepEqual(
    seen[0]?.tools.map(({ name }) => name),
    ["Bash", "BashOutput", "KillShell"],
  );
  const [first, second, third] = (seen[1]?.messages.at(-1)?.content ?? []) as anthropic.Block[];
  assert.deepEqual(first, { type: "tool_result", tool_use_id: "a", content: "42\n", is_error: false });
  assert.ok(second?.type === "tool_result" && second.is_error && second.content.startsWith("Blocked: "));
  assert.ok(third?.type === "tool_result" && third.is_error);
});

test("the OpenAI example uses tool names without dots and returns an error for invalid JSON arguments", async () => {
  const seen: openai.Request[] = [];
  const text = await openai.converse(gateway, "process", "What is the answer?", async (request) => {
    seen.push(structuredClone(request));
    if (seen.length > 1) return { choices: [{ message: { role: "assistant", content: "42" } }] };
    const call = (id: string, json: string) => ({
      id,
      type: "function" as const,
      function: { name: "process__run", arguments: json },
    });
    const tool_calls = [call("a", JSON.stringify({ command: "cat", args: ["answer.txt"] })), call("b", "{not json")];
    return { choices: [{ message: { role: "assistant", content: null, tool_calls } }] };
  });
  assert.equal(text, "42");
  for (const { function: described } of seen[0]?.tools ?? []) assert.match(described.name, /^[a-zA-Z0-9_-]{1,64}$/);
  const [good, bad] = seen[1]?.messages.slice(-2) ?? [];
  assert.ok(good?.role === "tool" && good.content.startsWith("42\n["), JSON.stringify(good));
  assert.ok(bad?.role === "tool" && bad.content.includes("[InvalidRequest]"));
});

test("the tools of the AI SDK example validate their input, run commands and can be aborted", async () => {
  const made = aiSdkTools(gateway, "runner", (definition) => definition);
  const { run } = made;
  assert.ok(run);
  const input = (run.inputSchema as ZodType).parse({ command: "cat answer.txt", intent: "read the answer" });
  assert.match(await run.execute(input, {}), /^42\n\[exit_code: 0/);
  assert.match(await run.execute(input, { abortSignal: AbortSignal.abort() }), /\[Cancelled\]/);
});

test("the MCP example lists and calls the tools of a server that it starts", async () => {
  const env = { ...fixture.env, XDG_CONFIG_HOME: fixture.folder };
  const host = new McpHost([process.execPath, ENTRY, "mcp", "--workspace", fixture.workspace], env);
  await host.open();
  assert.deepEqual(
    (await host.listTools()).map(({ name }) => name),
    ["Bash", "BashOutput", "KillShell"],
  );
  assert.deepEqual(await host.callTool("Bash", COMMAND), { text: "42\n", isError: false });
  await host.close();
});
