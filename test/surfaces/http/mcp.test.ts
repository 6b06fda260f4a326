import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TestService } from "../../fixtures/service.ts";

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

test("an agent finds MCP behind the same listener", async () => {
  const response = await service.ask("agent", "/mcp", { body: initialize, headers });
  assert.equal(response.status, 200);
  assert.match(await response.text(), /"serverInfo"/);
});

test("MCP is for agents: no person's token and no cookie is good for it", async () => {
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
