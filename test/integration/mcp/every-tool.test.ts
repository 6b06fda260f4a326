import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Connected, ERAS, type Era, McpFixture } from "../../fixtures/mcp.ts";
import { pause, until } from "../../fixtures/until.ts";

const fixture = new McpFixture({ toolsets: { exec: true }, permissions: { write: "autonomous", kill: "autonomous" } });
after(() => fixture.close());

type Structured = Record<string, unknown>;
type CallTool = (name: string, args?: Structured) => Promise<Structured>;

const ALL = "runner,process,exec,shell,bash";
const USER = { capabilities: { elicitation: {} } };

/** Makes the client's user approve everything, because `exec` requires approval for each command. */
async function yes(connecting: Promise<Connected>): Promise<Connected> {
  const connected = await connecting;
  connected.client.setRequestHandler("elicitation/create", async () => {
    await pause(400); // An answer within 300 ms is not a person's.
    return { action: "accept", content: { decision: "once" } } as const;
  });
  return connected;
}

let server: Promise<{ url: string; token: string }> | null = null;
const WAYS: Record<string, (era: Era) => Promise<Connected>> = {
  stdio: (era) => yes(fixture.stdio(["--tools", ALL], { era, ...USER })),
  HTTP: async (era) => {
    server ??= (async () => ({
      url: (await fixture.http(["--tools", ALL])).url,
      token: await fixture.token("default"),
    }))();
    const { url, token } = await server;
    return yes(fixture.httpClient(url, token, { era, ...USER }));
  },
};

/** Calls that use each tool. Sessions of one toolset are visible to the others. */
const USES: Record<string, (call: CallTool) => Promise<void>> = {
  async runner(call) {
    const ran = await call("run", { command: "echo one; exit 2", intent: "try it", shell: true });
    assert.deepEqual([ran.exit_code, ran.stdout], [2, "one\n"]);
    assert.equal((await call("is_blocked", { command: "rm -rf /" })).blocked, true);
    const { pid } = await call("run_background", { command: "sleep 600", intent: "try it" });
    assert.equal((await call("kill_process", { pid, intent: "done" })).success, true);
  },
  async process(call) {
    const ran = await call("process.run", { command: "echo", args: ["a b"] });
    assert.match(JSON.stringify(ran), /a b/);
    const { process_id } = await call("process.run", { command: "echo up; sleep 600", background: true });
    await until("the process has written output", async () => {
      return JSON.stringify(await call("process.logs", { process_id })).includes("up");
    });
    assert.match(JSON.stringify(await call("process.monitor", { process_id })), /running/);
    assert.ok(JSON.stringify(await call("process.list", {})).includes(String(process_id)));
    await call("process.kill", { process_id });
    assert.doesNotMatch(JSON.stringify(await call("process.monitor", { process_id })), /"state":"running"/);
  },
  async exec(call) {
    const ran = await call("execute", { command: "echo plain" });
    assert.match(String(ran.output), /plain/);
    const { session_id } = await call("execute_pty", { command: "cat", background: true });
    await call("process_manager", { action: "write", session_id, data: "typed\n" });
    await until("the call has returned", async () =>
      JSON.stringify(await call("process_log", { session_id })).includes("typed"),
    );
    assert.ok(JSON.stringify(await call("process_list", {})).includes(String(session_id)));
    await call("process_poll", { session_id });
    await call("process_manager", { action: "kill", session_id });
  },
  async shell(call) {
    const ran = await call("exec", { command: "echo yielded" });
    assert.match(JSON.stringify(ran), /yielded/);
    const { session_id } = await call("exec", { command: "sleep 600", background: true });
    assert.ok(JSON.stringify(await call("process", { action: "list" })).includes(String(session_id)));
    await call("process", { action: "kill", session_id });
  },
  async bash(call) {
    assert.equal((await call("Bash", { command: "echo hello", description: "x" })).output, "hello\n");
    const started = await call("Bash", { command: "sleep 600", description: "x", run_in_background: true });
    assert.equal((await call("BashOutput", { shell_id: started.shell_id })).status, "running");
    await call("KillShell", { shell_id: started.shell_id });
  },
};

for (const [way, connect] of Object.entries(WAYS)) {
  for (const era of ERAS) {
    test(`every tool of every toolset works for a real client (${way}, ${era})`, async () => {
      const { client, close } = await connect(era);
      const { tools } = await client.listTools();
      const unused = new Set(tools.map(({ name }) => name));
      // The client validates each result against the schema of the tool.
      const call: CallTool = async (name, args = {}) => {
        unused.delete(name);
        const { structuredContent, content, isError } = await client.callTool({ name, arguments: args });
        assert.notEqual(isError, true, `${name} ${JSON.stringify(args)}: ${JSON.stringify(content)}`);
        assert.equal((content[0] as { type: string }).type, "text");
        return structuredContent as Structured;
      };
      for (const use of Object.values(USES)) await use(call);
      assert.deepEqual([...unused], [], "some tools were not called");
      await close();
    });
  }
}

/** A call of each toolset that runs, one that is blocked, and one with invalid arguments. */
const OUTCOMES: [name: string, args: Structured][] = ["true", "rm -rf /", 5].flatMap((command) => [
  ["run", { command, intent: "try it" }],
  ["process.run", { command }],
  ["execute", { command }],
  ["exec", { command }],
  ["Bash", { command, description: "x" }],
]);

for (const era of ERAS) {
  test(`by default every result is text only, and every tool has the metadata that Claude Code reads (${era})`, async () => {
    const { client, close } = await yes(fixture.stdio(["--tools", ALL], { era, text: true, ...USER }));
    const { tools } = await client.listTools();
    for (const { name, outputSchema, description = "", _meta = {} } of tools) {
      assert.equal(outputSchema, undefined, name);
      assert.equal(_meta["anthropic/alwaysLoad"], true, name);
      assert.equal(_meta["anthropic/maxResultSizeChars"], 500_000, name);
      // Claude Code truncates longer descriptions and instructions.
      assert.ok(description.length <= 2048, name);
    }
    assert.ok((client.getInstructions() ?? "").length <= 2048);
    for (const [name, args] of OUTCOMES) {
      const result = await client.callTool({ name, arguments: args });
      assert.equal("structuredContent" in result, false, `${name} ${JSON.stringify(args)}`);
      assert.deepEqual(
        (result.content as { type: string }[]).map(({ type }) => type),
        ["text"],
      );
    }
    await close();
  });
}

test("the descriptions of all toolsets together stay within the size limit", async () => {
  const { client, close } = await fixture.stdio(["--tools", ALL]);
  const { tools } = await client.listTools();
  assert.equal(new Set(tools.map(({ _meta }) => _meta?.["sallyport/toolset"])).size, 5);
  assert.ok(Buffer.byteLength(JSON.stringify({ tools })) <= 64 << 10);
  await close();
});

test("a result stays within its limit, as text and as data, and states how much is omitted", async () => {
  const { client, close } = await fixture.stdio(["--tools", ALL]);
  const long = "yes 0123456789 | head -c 3000000";
  for (const [name, args, most] of [
    ["Bash", { command: long, description: "x" }, 101 << 10],
    ["run", { command: long, intent: "x", shell: true }, 65 << 10],
    ["process.run", { command: long }, 65 << 10],
    ["exec", { command: long }, 205_000],
  ] as const) {
    const { content, structuredContent } = await client.callTool({ name, arguments: args });
    const text = (content[0] as { text: string }).text;
    const longest = Math.max(...Object.values(structuredContent as Structured).map((value) => String(value).length));
    assert.ok(text.length < 2 * most && longest <= most, `${name}: ${text.length} and ${longest}`);
    // By contract, `process.run` returns the last lines, and the log has the rest.
    if (name !== "process.run") assert.match(text, /left out/, name);
  }
  await close();
});
