/** The answers of tools that end or remove sessions agree with the state of the session after them. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { McpFixture } from "../../fixtures/mcp.ts";

const fixture = new McpFixture();
after(() => fixture.close());

test("process: kill and remove report the state after the operation", async () => {
  const { client, close } = await fixture.stdio(["--tools", "shell", "--structured"]);
  const call = async (name: string, args: Record<string, unknown>) => {
    const { structuredContent, content } = await client.callTool({ name, arguments: args });
    const [first] = content as { text: string }[];
    return { ...(structuredContent as Record<string, unknown>), text: first?.text ?? "" } as Record<string, unknown>;
  };
  const start = async () => (await call("exec", { command: "sleep 600", background: true })).text;
  const idIn = (text: unknown) => /[0-9a-f-]{36}/.exec(String(text))?.[0] ?? "";

  const first = idIn(await start());
  const continued = await call("process", { action: "kill", session_id: first, signal: "SIGCONT" });
  assert.deepEqual([continued.killed, continued.status], [false, "running"]);
  assert.match(String(continued.text), /signal was sent.*is running/s);
  const killed = await call("process", { action: "kill", session_id: first });
  assert.doesNotMatch(String(killed.text), /is running/);
  assert.deepEqual([killed.killed, killed.status], [true, "killed"]);

  const second = idIn(await start());
  const removed = await call("process", { action: "remove", session_id: second });
  assert.match(String(removed.text), /ended and removed/);
  assert.deepEqual([removed.removed, removed.status], [true, "killed"]);
  await close();
});
