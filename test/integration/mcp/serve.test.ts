import assert from "node:assert/strict";
import { once } from "node:events";
import { after, test } from "node:test";
import { type Connected, ERAS, type Era, McpFixture, RawClient } from "../../fixtures/mcp.ts";

const fixture = new McpFixture();
after(() => fixture.close());

type Structured = Record<string, unknown>;

let server: Promise<{ url: string; token: string }> | null = null;

async function overHttp(era: Era): Promise<Connected> {
  server ??= (async () => ({ url: (await fixture.http()).url, token: await fixture.token("default", "shared") }))();
  const { url, token } = await server;
  return fixture.httpClient(url, token, { era });
}

const WAYS: Record<string, (era: Era) => Promise<Connected>> = {
  stdio: (era) => fixture.stdio([], { era }),
  HTTP: overHttp,
};

for (const [way, connect] of Object.entries(WAYS)) {
  for (const era of ERAS) {
    test(`lists complete tools for a ${era} client over ${way}`, async () => {
      const { client, close } = await connect(era);
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ["Bash", "BashOutput", "KillShell"],
      );
      for (const { title, description, annotations, outputSchema, _meta } of tools) {
        assert.ok(title && description && outputSchema);
        const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations ?? {};
        for (const hint of [readOnlyHint, destructiveHint, idempotentHint, openWorldHint]) {
          assert.equal(typeof hint, "boolean");
        }
        assert.equal(_meta?.["sallyport/toolset"], "bash");
      }
      await close();
    });

    test(`runs a command for a ${era} client over ${way} and returns text and data`, async () => {
      const { client, close } = await connect(era);
      const command = "echo out; echo err >&2; exit 3";
      const result = await client.callTool({ name: "Bash", arguments: { command, description: "try" } });
      const { exit_code, output } = result.structuredContent as Structured;
      assert.equal(exit_code, 3);
      assert.equal(output, "out\nerr\n");
      assert.deepEqual(result.content, [{ type: "text", text: "out\nerr\nexit: 3" }]);
      await close();
    });

    test(`a blocked command returns its type and recovery hints to a ${era} client over ${way}`, async () => {
      const { client, close } = await connect(era);
      const call = { name: "Bash", arguments: { command: "rm -rf /", description: "no" } };
      const { isError, structuredContent, content } = await client.callTool(call);
      assert.equal(isError, true);
      const { error } = structuredContent as { error: { type: string; recovery: { hint: string }[] } };
      assert.equal(error.type, "CommandBlocked");
      assert.ok(error.recovery.length > 0);
      assert.match((content[0] as { text: string }).text, /[Bb]locked/);
      await close();
    });

    test(`later calls of a ${era} client over ${way} read and stop a session of an earlier call`, async () => {
      const { client, close } = await connect(era);
      const call = async (name: string, args: object) =>
        (await client.callTool({ name, arguments: args as Structured })).structuredContent as Structured;
      const started = await call("Bash", {
        command: "echo ready; sleep 600",
        description: "server",
        run_in_background: true,
      });
      const { shell_id } = started;
      for (let seen = ""; !seen.includes("ready"); ) {
        const { output, stdout } = (await call("BashOutput", { shell_id })) as Record<string, string>;
        seen += `${output ?? ""}${stdout ?? ""}`;
      }
      await call("KillShell", { shell_id });
      const { status } = await call("BashOutput", { shell_id });
      assert.equal(status, "killed");
      await close();
    });
  }
}

test("sends text only unless --structured is given", async () => {
  const raw = new RawClient(fixture.spawn(["mcp", "--tools", "bash,process"]));
  await raw.initialize();
  const { tools } = (await raw.request("tools/list")).result as { tools: object[] };
  for (const tool of tools) assert.ok(!("outputSchema" in tool), JSON.stringify(tool));
  const calls = [
    { name: "Bash", arguments: { command: "echo hello", description: "say hello" } },
    { name: "process.run", arguments: { command: "echo hello" } },
    { name: "Bash", arguments: { command: "sudo id", description: "fail" } },
    { name: "Bash", arguments: {} },
  ];
  for (const call of calls) {
    const { result } = await raw.request("tools/call", call);
    const { content, ...rest } = result as { content: { type: string; text: string }[]; isError?: boolean };
    assert.deepEqual(
      content.map(({ type }) => type),
      ["text"],
    );
    assert.ok(!("structuredContent" in rest), JSON.stringify(rest));
  }
});

test("a client's own name becomes a valid agent name, which is said on stderr", async () => {
  const child = fixture.spawn(["mcp", "--agent", "Claude Code"]);
  child.stdin?.end();
  let said = "";
  child.stderr?.on("data", (part: Buffer) => {
    said += part.toString();
  });
  await once(child, "close");
  assert.match(said, /the agent name "Claude Code" is not valid; using claude-code-[0-9a-f]{8}\n/);
});
