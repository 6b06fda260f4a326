import assert from "node:assert/strict";
import { once } from "node:events";
import { after, test } from "node:test";
import { type Connected, ERAS, type Era, McpFixture, RawClient } from "../../fixtures/mcp.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new McpFixture();
after(() => fixture.close());

const WAYS: Record<string, (era: Era) => Promise<Connected>> = {
  stdio: (era) => fixture.stdio(["--tools", "bash,exec"], { era }),
  HTTP: async (era) => {
    const [server, token] = await Promise.all([
      fixture.http(["--tools", "bash,exec"]),
      fixture.token("default", `gate-${era}`),
    ]);
    return fixture.httpClient(server.url, token, { era });
  },
};

for (const [way, connect] of Object.entries(WAYS)) {
  for (const era of ERAS) {
    test(`enabling or disabling a toolset notifies the client and applies to calls (${way}, ${era})`, async () => {
      fixture.configure({});
      const { client, close } = await connect(era);
      const names = async () => (await client.listTools()).tools.map(({ name }) => name);
      let told = 0;
      client.setNotificationHandler("notifications/tools/list_changed", () => {
        told++;
      });
      if (era === "2026") await client.listen({ toolsListChanged: true });
      const closed = await names();
      assert.ok(closed.includes("Bash") && !closed.includes("execute"));

      fixture.configure({ toolsets: { exec: true } });
      await until("the client is notified that the toolset is enabled", () => told > 0);
      assert.ok((await names()).includes("execute"));

      const before = told;
      fixture.configure({ toolsets: { bash: false } });
      await until("the client is notified that the toolset is disabled", () => told > before);
      assert.ok(!(await names()).includes("Bash"));
      const call = { name: "Bash", arguments: { command: "true", description: "x" } };
      await assert.rejects(client.callTool(call), /Unknown tool "Bash"/);
      await close();
    });
  }
}

test("ENABLE_EXECUTE enables the exec toolset", async () => {
  fixture.configure({});
  const raw = new RawClient(fixture.spawn(["mcp", "--tools", "exec"], { ENABLE_EXECUTE: "1" }));
  await raw.initialize();
  const { result } = (await raw.request("tools/list")) as { result: { tools: { name: string }[] } };
  assert.ok(result.tools.some(({ name }) => name === "execute"));
  assert.equal(await raw.leave(), 0);
});

test("an unknown toolset or an invalid configuration prevents the start with an error", async () => {
  const attempt = async (...args: string[]) => {
    const child = fixture.spawn(["mcp", ...args]);
    let errors = "";
    child.stderr?.on("data", (data) => {
      errors += data;
    });
    const [code] = await once(child, "close");
    return { code, errors };
  };
  const unknown = await attempt("--tools", "bash,fish");
  assert.equal(unknown.code, 125);
  assert.match(unknown.errors, /`--tools` must be a list of .*; received `fish`/);
  fixture.configure({ security: "sometimes" });
  const bad = await attempt();
  assert.equal(bad.code, 125);
  assert.match(bad.errors, /security/);
  fixture.configure({});
});
