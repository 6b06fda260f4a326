import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { after, before, test } from "node:test";
import { type HttpServer, McpFixture } from "../../fixtures/mcp.ts";
import { until } from "../../fixtures/until.ts";

const MAX_MESSAGE_BYTES = 16 << 20;
const fixture = new McpFixture();
let server: HttpServer;
let token: string;
before(async () => {
  [server, token] = await Promise.all([
    fixture.http(["--max-sessions", "3", "--idle", "5s"]),
    fixture.token("default"),
  ]);
});
after(() => fixture.close());

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

/** Sends a request exactly as given. */
function send(options: {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}): Promise<Reply> {
  const { method = "POST", path = "/mcp", headers = {}, body } = options;
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const all = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    };
    const asking = httpRequest({ hostname, port, path, method, headers: all }, (response) => {
      let text = "";
      response.on("data", (data) => {
        text += data;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    // The server may close the connection without reading the body.
    asking.on("error", reject);
    asking.end(body);
  });
}

const initialize = (headers: Record<string, string> = {}) => send({ body: JSON.stringify(INITIALIZE), headers });

async function begin(): Promise<Record<string, string>> {
  const { headers, status } = await initialize();
  assert.equal(status, 200);
  return { "mcp-session-id": String(headers["mcp-session-id"]) };
}

async function end(session: Record<string, string>): Promise<void> {
  assert.equal((await send({ method: "DELETE", headers: session })).status, 200);
}

const LIST = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" });

test("listens on the loopback interface by default", () => {
  assert.equal(new URL(server.url).hostname, "127.0.0.1");
});

for (const [what, authorization] of Object.entries({
  "no token": "",
  "a wrong token": "Bearer sallyport_wrong",
  "another scheme": "Basic dXNlcjpwYXNz",
  "an empty token": "Bearer ",
  "a very long token": `Bearer ${"x".repeat(5000)}`,
})) {
  test(`rejects requests with ${what}`, async () => {
    const { status, headers, body } = await initialize({ authorization });
    assert.equal(status, 401);
    assert.match(String(headers["www-authenticate"]), /^Bearer /);
    assert.match(body, /token create/);
  });
}

test("rejects an unknown host name first, even with a valid token", async () => {
  for (const headers of [
    { host: "evil.example" },
    { host: "evil.example", authorization: "" },
    { host: "127.0.0.1.evil.example:80" },
    { origin: "http://evil.example" },
    { origin: "null" },
    { origin: "https://localhost.evil.example" },
  ] as Record<string, string>[]) {
    assert.equal((await initialize(headers)).status, 403, JSON.stringify(headers));
  }
});

test("accepts loopback names and same-origin requests", async () => {
  const { port } = new URL(server.url);
  for (const headers of [
    { host: `localhost:${port}` },
    { host: `[::1]:${port}` },
    { origin: `http://localhost:${port}` },
  ] as Record<string, string>[]) {
    const { status, headers: answered } = await initialize(headers);
    assert.equal(status, 200, JSON.stringify(headers));
    await end({ "mcp-session-id": String(answered["mcp-session-id"]) });
  }
});

test("rejects invalid requests with the matching status", async () => {
  assert.equal((await send({ path: "/", body: LIST })).status, 404);
  assert.equal((await send({ path: "/mcp/../x", body: LIST })).status, 404);
  assert.equal((await send({ method: "PUT", body: LIST })).status, 405);
  assert.equal((await send({ method: "OPTIONS" })).status, 405);
  assert.equal((await send({ body: LIST, headers: { "content-type": "text/plain" } })).status, 415);
  assert.equal((await send({ body: "{nonsense" })).status, 400);
  assert.match((await send({ body: "{nonsense" })).body, /-32700/);
  assert.equal((await send({ body: Buffer.from([0x22, 0xff, 0x22]) })).status, 400);
  assert.equal((await send({ body: "" })).status, 400);
  assert.equal((await send({ body: "[]" })).status, 400);
  assert.equal((await send({ body: "null" })).status, 400);
  assert.equal(
    (await send({ body: LIST })).status,
    400,
    "a request without a session was accepted, although it was not initialize",
  );
  assert.equal((await send({ body: LIST, headers: { "mcp-session-id": "made-up" } })).status, 404);
  assert.equal((await send({ method: "GET", headers: { "mcp-session-id": "made-up" } })).status, 404);
});

test("rejects an oversized body without reading it", async () => {
  const declared = await send({ body: "", headers: { "content-length": String(MAX_MESSAGE_BYTES + 1) } }).catch(
    () => null,
  );
  if (declared) assert.equal(declared.status, 413);
  const chunked = await send({
    body: Buffer.alloc(MAX_MESSAGE_BYTES + 1, 0x20),
    headers: { "transfer-encoding": "chunked" },
  }).catch(() => null);
  if (chunked) assert.equal(chunked.status, 413);
  const session = await begin();
  assert.equal((await send({ body: LIST, headers: session })).status, 200);
  await end(session);
});

test("limits the number of sessions, and an ended session frees its slot", async () => {
  await until("all slots are free", async () => {
    const { status, headers } = await initialize();
    if (status === 200) await end({ "mcp-session-id": String(headers["mcp-session-id"]) });
    return status === 200;
  });
  const sessions = [await begin(), await begin(), await begin()];
  const { status, headers } = await initialize();
  assert.equal(status, 503);
  assert.ok(headers["retry-after"]);
  await end(sessions[0] ?? {});
  sessions[0] = await begin();
  for (const session of sessions) await end(session);
});

test("ends an idle session, but not one in use", async () => {
  const used = await begin();
  const silent = [await begin(), await begin()];
  // All slots are taken, so a slot becomes free when an idle session ends. A request to that session would keep it
  // alive.
  await until("a slot is free again", async () => {
    assert.equal((await send({ body: LIST, headers: used })).status, 200);
    const { status, headers } = await initialize();
    if (status === 200) await end({ "mcp-session-id": String(headers["mcp-session-id"]) });
    return status === 200;
  });
  const answers = await Promise.all(silent.map((session) => send({ body: LIST, headers: session })));
  assert.ok(answers.some(({ status }) => status === 404));
  await end(used);
});

test("a session looks nonexistent to other agents", async () => {
  const other = await fixture.token("other");
  const session = await begin();
  const reply = await send({ body: LIST, headers: { ...session, authorization: `Bearer ${other}` } });
  assert.equal(reply.status, 404);
  assert.equal((await send({ body: LIST, headers: session })).status, 200);
  await end(session);
});

test("revoking a token ends its sessions and streams", async () => {
  const brief = await fixture.token("brief");
  const headers = { authorization: `Bearer ${brief}` };
  const { headers: answered } = await initialize(headers);
  const session = { ...headers, "mcp-session-id": String(answered["mcp-session-id"]) };
  const stream = send({ method: "GET", headers: { ...session, accept: "text/event-stream" } });
  assert.equal((await send({ body: LIST, headers: session })).status, 200);
  await fixture.run("token", "revoke", "brief-token");
  assert.equal((await send({ body: LIST, headers: session })).status, 401);
  assert.equal((await stream).status, 200, "the stream was not opened before its session ended");
});

test("reports a port in use and an invalid port", async () => {
  const { port } = new URL(server.url);
  await assert.rejects(fixture.http(["--http", port]), /EADDRINUSE|in use/);
  for (const wrong of ["x", "70000", "-1", ""]) await assert.rejects(fixture.http(["--http", wrong]), /--http/);
});

test("exits with 0 when stopped", async () => {
  assert.equal(await server.stop(), 0);
});
