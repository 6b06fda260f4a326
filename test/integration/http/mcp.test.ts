import assert from "node:assert/strict";
import { type ClientRequest, request as httpRequest } from "node:http";
import { after, before, test } from "node:test";
import { TestService } from "../../fixtures/service.ts";
import { until } from "../../fixtures/until.ts";

let service: TestService;
before(async () => {
  service = await TestService.start();
});
after(() => service.close());

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};
const headers = { accept: "application/json, text/event-stream" };

test("serves MCP to agents on the same listener", async () => {
  const response = await service.ask("agent", "/mcp", { body: initialize, headers });
  assert.equal(response.status, 200);
  assert.match(await response.text(), /"serverInfo"/);
});

test("rejects tokens and keys of people for MCP", async () => {
  for (const role of ["viewer", "approver", "operator", null] as const) {
    const response = await service.ask(role, "/mcp", { body: initialize, headers });
    assert.equal(response.status, 401, String(role));
    await response.text();
  }
  const signedIn = service.pageHeaders(await service.signIn());
  const response = await service.ask(null, "/mcp", { body: initialize, headers: { ...headers, ...signedIn } });
  assert.equal(response.status, 401);
  await response.text();
});

test("limits concurrent large messages, and frees their slots", async () => {
  const open: ClientRequest[] = [];
  const hold = () => {
    const authorization = `Bearer ${service.secrets.agent}`;
    const length = { "content-type": "application/json", "content-length": 2 << 20 };
    const asked = httpRequest(`${service.url}/mcp`, {
      method: "POST",
      headers: { ...headers, ...length, authorization },
    });
    asked.on("error", () => {}); // aborted below
    // A response means that a request below took the slot first, so try again.
    asked.on("response", hold);
    asked.write("{");
    open.push(asked);
  };
  for (let n = 0; n < 4; n++) hold();
  const body = { ...initialize, padding: "x".repeat(2 << 20) };
  const large = async (role: "agent" | "other") => {
    const response = await service.ask(role, "/mcp", { body, headers }).catch(() => null);
    await response?.text();
    return response?.status ?? 429; // The connection was closed before the whole body was sent.
  };
  await until("all slots are taken", async () => (await large("agent")) === 429);
  assert.notEqual(await large("other"), 429);
  for (const asked of open) asked.destroy();
  await until("a slot is free again", async () => (await large("agent")) !== 429);
});
