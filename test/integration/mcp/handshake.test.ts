import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { after, test } from "node:test";
import { AgentContext } from "../../../src/mcp/agent-context.ts";
import { serveStdio } from "../../../src/mcp/stdio.ts";
import { McpFixture, RawClient } from "../../fixtures/mcp.ts";
import { type Message, recordings } from "../hosts/replay.ts";

const fixture = new McpFixture();
after(() => fixture.close());

const clientInfo = { name: "test", version: "1" };
const plain = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };

/** Parameters of `initialize`: those that hosts send, and some that only the SDK may answer. */
const PARAMS: Record<string, unknown> = {
  plain,
  "of the first version": { ...plain, protocolVersion: "2024-10-07" },
  "of an unknown version": { ...plain, protocolVersion: "1999-01-01" },
  "with every capability": {
    ...plain,
    capabilities: {
      experimental: { some: { deep: [1] } },
      extensions: { other: {} },
      roots: { listChanged: true },
      sampling: { context: {}, tools: {} },
      elicitation: { form: { applyDefaults: true }, url: {} },
    },
  },
  "with an unknown capability": { ...plain, capabilities: { unknown: 1, tasks: { list: {} } } },
  "with a wrong capability": { ...plain, capabilities: { roots: { listChanged: "yes" } } },
  "with a capability that is null": { ...plain, capabilities: { experimental: { some: null } } },
  "with a form that is a list": { ...plain, capabilities: { elicitation: { form: [] } } },
  "without capabilities": { protocolVersion: "2025-06-18", clientInfo },
  "without a name": { ...plain, clientInfo: { version: "1" } },
  "with icons": { ...plain, clientInfo: { ...clientInfo, icons: [{ src: "https://example.org/icon.png" }] } },
  "with a wrong icon": { ...plain, clientInfo: { ...clientInfo, icons: [{}] } },
  "with a progress token": { ...plain, _meta: { progressToken: 1 } },
  "that are missing": undefined,
};
for (const [host, [server]] of recordings("mcp")) {
  const sent = server?.lines as Message[];
  PARAMS[`of ${host}`] = sent.find(({ method }) => method === "initialize")?.params;
}

const request = (id: string, params: unknown) => JSON.stringify({ jsonrpc: "2.0", id, method: "initialize", params });
const PING = JSON.stringify({ jsonrpc: "2.0", id: "ping", method: "ping" });

/** Sends lines to a server in this process, and returns its responses. */
async function responsesTo(lines: string[]): Promise<Message[]> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const { state, workspace } = fixture.fixture;
  const agentContext = new AgentContext({
    agent: "default",
    state,
    workspace,
    toolsets: ["bash"],
    answerWithinMs: 1000,
    onDisconnect: "keep",
    structured: false,
  });
  const { signal } = new AbortController();
  const served = serveStdio(agentContext, { input, output, signal, hostUser: async () => null, onerror: () => {} });
  const responses: Message[] = [];
  const reader = createInterface({ input: output });
  const complete = new Promise<void>((resolve) => {
    reader.on("line", (line) => {
      responses.push(JSON.parse(line));
      if (responses.length === lines.length) resolve();
    });
  });
  input.write(lines.map((line) => `${line}\n`).join(""));
  await complete;
  input.end();
  await served;
  await agentContext.close();
  return responses;
}

test("answers `initialize` once, and as the SDK does", async () => {
  for (const [name, params] of Object.entries(PARAMS)) {
    const sent = request("greeting", params);
    // Only the first message of a connection is answered before the SDK is loaded.
    const [, expected] = await responsesTo([PING, sent]);
    const [greeting, ping] = await responsesTo([sent, PING]);
    assert.deepEqual(greeting, expected, name);
    assert.deepEqual([greeting?.id, ping?.id], ["greeting", "ping"], name);
  }
});

test("answers a request that arrives in pieces, and those that follow in the same piece", async () => {
  const client = new RawClient(fixture.spawn(["mcp"]));
  const text = request("pieces", plain);
  client.child.stdin?.write(text.slice(0, 40));
  await new Promise((resolve) => client.child.stdin?.write("", resolve));
  client.child.stdin?.write(`${text.slice(40)}\n${PING}\n`);
  const { result } = await client.wanted(({ id }) => id === "pieces");
  assert.equal((result as { protocolVersion: string }).protocolVersion, "2025-06-18");
  await client.wanted(({ id }) => id === "ping");
  assert.equal(await client.leave(), 0);
});

test("reports an invalid configuration after the handshake, and exits", async () => {
  const broken = new McpFixture({ limits: { sessions: "many" } });
  after(() => broken.close());
  const child = broken.spawn(["mcp"]);
  let errors = "";
  child.stderr?.on("data", (data) => {
    errors += data;
  });
  const client = new RawClient(child);
  assert.ok((await client.initialize()).result);
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.equal(code, 125);
  assert.match(errors, /sallyport\.json.*\n?.*limits\.sessions/);
});
