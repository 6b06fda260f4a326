import assert from "node:assert/strict";
import { once } from "node:events";
import { statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { TestService } from "../../fixtures/service.ts";
import { until } from "../../fixtures/until.ts";

const MOST = 40;
let service: TestService;
before(async () => {
  service = await TestService.start({ serve: { maxConnections: MOST } });
});
after(() => service.close());

const { hostname, port } = { hostname: "127.0.0.1", port: () => Number(new URL(service.url).port) };

/** Sends a raw request and resolves with the status line and the body. */
async function raw(lines: string[], body = ""): Promise<string> {
  const socket = connect(port(), hostname);
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
  return (await socket.toArray()).join("");
}

function me(secret: string): Promise<Response> {
  return fetch(`${service.url}/v1/me`, { headers: { authorization: `Bearer ${secret}`, connection: "close" } });
}

test("idle connections of strangers do not lock out authenticated callers", async () => {
  const idle: Socket[] = [];
  let closed = 0;
  try {
    for (let i = 0; i < MOST * 3; i++) {
      const socket = connect(port(), hostname);
      socket.on("error", () => {});
      socket.on("close", () => closed++);
      idle.push(socket);
      await once(socket, "connect");
    }
    assert.equal((await me(service.secrets.operator)).status, 200);
    await until("the oldest idle connections are closed", () => closed >= MOST);
  } finally {
    for (const socket of idle) socket.destroy();
  }
});

test("a connection with an authenticated caller is not closed to make room", async () => {
  const stream = await fetch(`${service.url}/v1/events`, {
    headers: { authorization: `Bearer ${service.secrets.operator}`, accept: "text/event-stream" },
  });
  assert.equal(stream.status, 200);
  const reader = stream.body?.getReader();
  await reader?.read();
  const idle: Socket[] = [];
  try {
    for (let i = 0; i < MOST * 2; i++) {
      const socket = connect(port(), hostname);
      socket.on("error", () => {});
      idle.push(socket);
      await once(socket, "connect");
    }
    await service.gateway.run({ command: "echo seen" });
    const next = await reader?.read();
    assert.equal(next?.done, false);
  } finally {
    for (const socket of idle) socket.destroy();
    await reader?.cancel();
  }
});

test("rejects repeated headers that decide who the caller is", async () => {
  const host = `Host: localhost:${port()}`;
  const token = `Authorization: Bearer ${service.secrets.operator}`;
  const wrong = "Authorization: Bearer wrong";
  for (const path of ["/v1/me", "/mcp"]) {
    const start = [`GET ${path} HTTP/1.1`, "Connection: close"];
    for (const lines of [
      [...start, host, token, wrong],
      [...start, host, wrong, token],
      [...start, host, host, token],
      [...start, host, "host: evil.example", token],
    ]) {
      assert.match(await raw(lines), /^HTTP\/1\.1 400 /, lines.join(" | "));
    }
  }
  assert.match(await raw(["GET /v1/me HTTP/1.1", "Connection: close", host, token]), /^HTTP\/1\.1 200 /);
});

test("rejects a body with duplicate keys or __proto__", async () => {
  for (const body of ['{"command":"true","command":"id"}', '{"command":"true","__proto__":{}}']) {
    const response = await fetch(`${service.url}/v1/sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.secrets.operator}`, "content-type": "application/json" },
      body,
    });
    assert.equal(response.status, 400, body);
  }
});

test("audits and limits wrong tokens, and still accepts a valid one", async () => {
  const wrong = (path: string) =>
    fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${"x".repeat(43)}` } });
  const statuses = new Set<number>();
  for (let i = 0; i < 15; i++) statuses.add((await wrong("/v1/me")).status);
  assert.deepEqual([...statuses].sort(), [401, 429]);
  assert.equal((await wrong("/mcp")).status, 401);
  const refused = service.gateway.audit.search({ kind: "sign-in", outcome: "refused", limit: 5 });
  assert.match(refused[0]?.summary ?? "", /wrong secret/);
  assert.equal((await me(service.secrets.operator)).status, 200);
});

/** Starts a protocol session over HTTP. Returns its ID, or the status of the refusal. */
async function initialize(secret: string): Promise<string> {
  const response = await fetch(`${service.url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    }),
  });
  await response.text();
  return response.headers.get("mcp-session-id") ?? String(response.status);
}

test("an agent that opens many protocol sessions does not take those of others", async () => {
  const own: string[] = [];
  while (own.at(-1) !== "503" && own.length < 100) own.push(await initialize(service.secrets.agent));
  assert.equal(own.pop(), "503", "the agent reaches its own limit");
  const theirs = await initialize(service.secrets.other);
  const list = async (secret: string, id: string) => {
    const response = await fetch(`${service.url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-session-id": id,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" }),
    });
    await response.text();
    return response.status;
  };
  assert.equal(await list(service.secrets.other, theirs), 200);
  assert.equal(await list(service.secrets.agent, own[0] ?? ""), 200, "its open sessions stay");
});

test("only the owner can read the database", () => {
  for (const name of ["sallyport.db", "sallyport.db-wal"]) {
    assert.equal(statSync(join(service.fixture.state, name)).mode & 0o077, 0, name);
  }
});
