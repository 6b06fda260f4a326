import assert from "node:assert/strict";
import { after, test } from "node:test";
import { McpFixture } from "../../fixtures/mcp.ts";
import { pause } from "../../fixtures/until.ts";

const fixture = new McpFixture({ sandbox: "off", toolsets: { exec: true } });
after(() => fixture.close());

type Structured = Record<string, unknown>;

test("tools refuse input that a shell would run and policy blocks", async () => {
  const user = { capabilities: { elicitation: {} } };
  const { client, close } = await fixture.stdio(["--tools", "process,exec,shell"], user);
  client.setRequestHandler("elicitation/create", async () => {
    await pause(400); // An answer within 300 ms is not a person's.
    return { action: "accept", content: {} } as const;
  });
  const call = async (name: string, args: Structured) => {
    const { structuredContent, content, isError } = await client.callTool({ name, arguments: args });
    return { result: structuredContent as Structured, text: JSON.stringify(content), isError: isError === true };
  };
  const started = await call("exec", { command: "bash", background: true, pty: false });
  const { session_id } = started.result;
  for (const [name, args] of [
    ["process", { action: "write", session_id, data: "setenforce 0\n" }],
    ["process", { action: "submit", session_id, data: "setenforce 0" }],
    ["process_manager", { action: "write", session_id, data: "setenforce 0\n" }],
    ["process.run", { command: "bash", args: ["-s"], stdin: "setenforce 0\n" }],
  ] as const) {
    const { text, isError } = await call(name, args);
    assert.ok(isError, text);
    assert.match(text, /security-off/);
  }
  await call("process", { action: "kill", session_id });
  await close();
});
