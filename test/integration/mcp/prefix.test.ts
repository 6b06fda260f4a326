import assert from "node:assert/strict";
import { after, test } from "node:test";
import { McpFixture } from "../../fixtures/mcp.ts";

const NAMES = {
  bash: ["Bash", "BashOutput", "KillShell"],
  shell: ["exec", "process"],
  process: ["process.run", "process.monitor", "process.kill", "process.list", "process.logs"],
  runner: ["run", "run_background", "kill_process", "is_blocked"],
  exec: ["execute", "execute_pty", "process_manager", "process_list", "process_poll", "process_log"],
} as const;
type Name = keyof typeof NAMES;

const mcp = new McpFixture({ toolsets: { exec: true }, permissions: { run: "autonomous" } });
after(() => mcp.close());

/** No command is left when the server ends. */
const ENDED = ["--on-disconnect", "end"];

/** Returns the names of tools in a text that have no prefix. Names that are also words count only where they name a tool. */
function unprefixed(text: string, toolset: Name): string[] {
  return NAMES[toolset].flatMap((name) => {
    const pattern = /^[a-z]+$/.test(name)
      ? `(?<![\\w-])${name}(?= (?:action=|again\\b|instead\\b|returned\\b|and action|are\\b|\\(poll|\\(send|tool\\b)|\`)`
      : `(?<![\\w.-])${name.replace(".", "\\.")}\\b`;
    return [...text.matchAll(new RegExp(pattern, "g"))].map(({ index }) =>
      text.slice(Math.max(0, index - 30), index + 30),
    );
  });
}

/** Calls that fail, continue, or shorten their output, so that their results say which tool to call next. */
const CALLS: Record<Name, [tool: string, args: object][]> = {
  bash: [
    ["Bash", { command: "sleep 60", description: "wait", run_in_background: true }],
    ["Bash", { command: "sleep 60", description: "wait" }],
    ["Bash", { command: "seq 100000", description: "count" }],
    ["Bash", { command: "sleep 60 & echo", description: "leave", timeout: 1 }],
    ["BashOutput", { shell_id: "no-such" }],
    ["KillShell", { shell_id: "no-such" }],
    ["Bash", { command: 5 }],
  ],
  shell: [
    ["exec", { command: "sleep 60", background: true }],
    ["exec", { command: "sleep 60", yieldMs: 100 }],
    ["exec", { command: "seq 100000" }],
    ["exec", { command: "head -n 1", background: true, pty: true }],
    ["process", { action: "log", session_id: "no-such" }],
    ["process", { action: "write", session_id: "no-such", data: "x" }],
  ],
  process: [
    ["process.run", { command: "sleep 60", background: true }],
    ["process.run", { command: "sleep 60" }],
    ["process.run", { command: "seq 100000" }],
    ["process.logs", { process_id: "no-such" }],
    ["process.kill", { process_id: "no-such" }],
  ],
  runner: [
    ["run_background", { command: "sleep 60", intent: "wait" }],
    ["run", { command: "sleep 60", intent: "wait" }],
    ["run", { command: "seq 100000 | cat", intent: "count" }],
    ["kill_process", { pid: 1, intent: "end" }],
  ],
  exec: [
    ["execute", { command: "sleep 60", background: true }],
    ["execute", { command: "sleep 60" }],
    ["execute", { command: "seq 100000" }],
    ["execute_pty", { command: "read x", background: true }],
    ["process_log", { session_id: "no-such" }],
    ["process_manager", { action: "kill", session_id: "no-such" }],
  ],
};

for (const toolset of Object.keys(CALLS) as Name[]) {
  test(`with --prefix, every text of the toolset ${toolset} names its tools with the prefix`, async () => {
    const { client } = await mcp.stdio(["--tools", toolset, "--prefix", "x", "--answer-within", "500ms", ...ENDED]);
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      NAMES[toolset].map((name) => `x_${name}`),
    );
    for (const { description, inputSchema, outputSchema } of tools) {
      assert.deepEqual(unprefixed(JSON.stringify([description, inputSchema, outputSchema]), toolset), []);
    }
    for (const [tool, args] of CALLS[toolset]) {
      const result = await client.callTool({ name: `x_${tool}`, arguments: { ...args } });
      assert.deepEqual(unprefixed(JSON.stringify(result), toolset), [], JSON.stringify(result));
    }
    const [name, args] = CALLS[toolset][0] as [string, object];
    await assert.rejects(client.callTool({ name, arguments: { ...args } }), /Unknown tool/);
  });
}

test("the texts without a prefix are detected, and the output of a command is not renamed", async () => {
  const plain = await mcp.stdio(["--tools", "bash", "--answer-within", "500ms", ...ENDED]);
  const pending = await plain.client.callTool({
    name: "Bash",
    arguments: { command: "sleep 60", description: "wait" },
  });
  assert.equal(unprefixed(JSON.stringify(pending.content), "bash").length, 2);
  const { client } = await mcp.stdio(["--prefix", "x", "--tools", "bash,shell"]);
  const command = "echo 'call BashOutput, or process action=log'";
  const shown = await client.callTool({ name: "x_Bash", arguments: { command, description: "print" } });
  assert.match(JSON.stringify(shown.content), /"call BashOutput, or process action=log\\n"/);
});

test("rejects a prefix that cannot be part of a name", async () => {
  for (const prefix of ["", "a b", "1x", "x.", "x".repeat(33)]) {
    await assert.rejects(mcp.run("mcp", "--prefix", prefix), /exited with 125/);
  }
});
