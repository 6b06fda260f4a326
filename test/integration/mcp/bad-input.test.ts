import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { McpFixture, RawClient } from "../../fixtures/mcp.ts";

const MAX_MESSAGE_BYTES = 16 << 20;
const fixture = new McpFixture();
let raw: RawClient;
before(async () => {
  raw = new RawClient(fixture.spawn(["mcp", "--structured"]));
  await raw.initialize();
});
after(async () => {
  assert.deepEqual(raw.rubbish, [], "stdout contains lines that are not protocol messages");
  assert.equal(await raw.leave(), 0);
  await fixture.close();
});

type Failure = { code: number; message: string };
const errorOf = (message: Record<string, unknown>) => message.error as Failure;
const bash = (args: object) => raw.request("tools/call", { name: "Bash", arguments: args });

/** Asserts that the server still works after earlier input. */
async function assertAlive(): Promise<void> {
  const answer = await bash({ command: "echo alive", description: "ping" });
  assert.match(JSON.stringify(answer.result), /alive/);
}

/** Calls `send` and returns the next response without an id. */
async function answerToNobody(send: () => void): Promise<Failure> {
  const before = raw.received.length;
  send();
  return errorOf(await raw.wanted((message) => message.id === null && raw.received.indexOf(message) >= before));
}

for (const [what, line] of Object.entries({
  "a line that is not JSON": "{nonsense",
  "an incomplete message": '{"jsonrpc":"2.0","id":1,"method":',
  "a bare word": "hello",
  "invalid UTF-8": Buffer.from([0x22, 0xc3, 0x28, 0xff, 0x22]),
  "invalid UTF-8 within a message": Buffer.from([
    ...Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'),
    0xff,
    ...Buffer.from('"}'),
  ]),
})) {
  test(`responds to ${what} with a parse error`, async () => {
    assert.equal((await answerToNobody(() => raw.send(line))).code, -32700);
    await assertAlive();
  });
}

for (const [what, line] of Object.entries({
  "a number": "17",
  null: "null",
  "an empty batch": "[]",
  "a message without a version": '{"id":null,"method":"ping"}',
  "an object that is not a message": "{}",
  "deeply nested brackets": "[".repeat(100_000) + "]".repeat(100_000),
})) {
  test(`responds to ${what} with an invalid request error`, async () => {
    assert.equal((await answerToNobody(() => raw.send(line))).code, -32600);
    await assertAlive();
  });
}

test("the response to an invalid request has its id", async () => {
  raw.send('{"jsonrpc":"1.0","id":"mine","method":"ping"}');
  assert.equal(errorOf(await raw.wanted(({ id }) => id === "mine")).code, -32600);
});

test("rejects an oversized message and keeps the connection", async () => {
  const long = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: { x: "x".repeat(MAX_MESSAGE_BYTES) } });
  const { code, message } = await answerToNobody(() => raw.send(long));
  assert.equal(code, -32600);
  assert.match(message, /longer than \d+ bytes/);
  await assertAlive();
});

test("ignores empty lines", async () => {
  const before = raw.received.length;
  raw.send("\n\r\n");
  await assertAlive();
  assert.equal(raw.received.length, before + 1);
});

test("rejects an unknown method", async () => {
  assert.equal(errorOf(await raw.request("tools/destroy")).code, -32601);
  assert.equal(errorOf(await raw.request("__proto__")).code, -32601);
});

test("rejects an unknown tool with a protocol error that names it", async () => {
  for (const name of ["Nothing", "__proto__", "constructor", "bash", "Bash ", ""]) {
    const { code, message } = errorOf(await raw.request("tools/call", { name, arguments: {} }));
    assert.equal(code, -32602);
    assert.ok(message.includes(JSON.stringify(name)), message);
  }
  const { message } = errorOf(await raw.request("tools/call", { name: "x".repeat(1 << 20), arguments: {} }));
  assert.ok(message.length < 1000, "a long name was not shortened in the error");
});

for (const [what, args] of Object.entries({
  "a missing field": {},
  "a wrong type": { command: 17, description: "x" },
  "an extra field": { command: "true", description: "x", force: true },
  "a wrong type in an optional field": { command: "true", description: "x", timeout: "long" },
  "an empty command": { command: "", description: "x" },
  "a NUL in a command": { command: "true\0", description: "x" },
})) {
  test(`${what} causes a tool error with a type and a recovery hint`, async () => {
    const { result } = (await bash(args)) as { result: Record<string, unknown> };
    assert.equal(result.isError, true);
    const { error } = result.structuredContent as { error: { type: string; recovery: unknown[] } };
    assert.equal(error.type, "InvalidRequest");
    assert.ok(error.recovery.length > 0);
    await assertAlive();
  });
}

test("rejects arguments that are not an object and a call without a name with protocol errors", async () => {
  assert.equal(errorOf(await bash([1])).code, -32602);
  assert.equal(errorOf(await raw.request("tools/call", { arguments: {} })).code, -32602);
  assert.equal(errorOf(await raw.request("tools/call")).code, -32602);
});

test("ignores unknown notifications and unexpected responses", async () => {
  raw.notify("notifications/nonsense", { x: 1 });
  raw.notify("notifications/cancelled", { requestId: "never sent" });
  raw.notify("notifications/cancelled", {});
  raw.send('{"jsonrpc":"2.0","id":"never asked","result":{}}');
  raw.send('{"jsonrpc":"2.0","id":"never asked","error":{"code":1,"message":"no"}}');
  await assertAlive();
});

test("survives a second initialize and a duplicate id", async () => {
  await raw.initialize();
  const call = { jsonrpc: "2.0", id: "twice", method: "tools/list" };
  raw.send(`${JSON.stringify(call)}\n${JSON.stringify(call)}`);
  await raw.wanted(({ id }) => id === "twice");
  await assertAlive();
});

test("rejects unknown resource URIs", async () => {
  for (const uri of [
    "sallyport://session/1",
    "file:///etc/passwd",
    "",
    "sallyport://session/../../x",
    "x".repeat(99_999),
  ]) {
    assert.equal(errorOf(await raw.request("resources/read", { uri })).code, -32602, uri.slice(0, 50));
    assert.equal(errorOf(await raw.request("resources/subscribe", { uri })).code, -32602, uri.slice(0, 50));
  }
  assert.equal(errorOf(await raw.request("resources/list", { cursor: "next" })).code, -32602);
});
