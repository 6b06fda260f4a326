import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { McpFixture } from "../../fixtures/mcp.ts";

const fixture = new McpFixture({ toolsets: { exec: true } });
const proxies: Server[] = [];
after(async () => {
  for (const proxy of proxies) proxy.close();
  await fixture.close();
});

const PROGRAM = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/package.json")).replace(
  "package.json",
  "dist/index.js",
);
const BASELINE = fileURLToPath(new URL("conformance-baseline.yml", import.meta.url));

const bash = (command: string) => ({ name: "Bash", arguments: { command, description: "x" } });

/** Tools and resources of the reference server, and their equivalents. Responses are not modified. */
function standIns(session: string) {
  const output = `sallyport://session/${session}/output`;
  return {
    tools: new Map<unknown, object>([
      ["test_simple_text", bash("echo This is a simple text")],
      ["test_error_handling", bash("rm -rf /")],
      ["test_tool_with_progress", bash("sleep 4")],
      // A tool that requires approval for each use.
      ["test_elicitation", { name: "execute", arguments: { command: "true" } }],
    ]),
    uris: new Map<unknown, string>([
      ["test://static-text", output],
      ["test://template/123/data", output],
      ["test://watched-resource", output],
    ]),
  };
}

function translated(body: string, { tools, uris }: ReturnType<typeof standIns>): string {
  if (body === "") return body;
  const message = JSON.parse(body) as { method?: string; params?: Record<string, unknown> };
  const { params } = message;
  if (message.method === "tools/call") Object.assign(params ?? {}, tools.get(params?.name));
  if (params && uris.has(params.uri)) params.uri = uris.get(params.uri);
  return JSON.stringify(message);
}

/** Starts a proxy that adds a token to the suite's requests and replaces names of the reference server. */
async function inBetween(url: string, token: string, session: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const names = standIns(session);
  const proxy = createServer(async (request, response) => {
    const body = translated(await text(request), names);
    const { "content-length": _, "transfer-encoding": __, ...rest } = request.headers;
    const headers = { ...rest, authorization: `Bearer ${token}`, "content-length": String(Buffer.byteLength(body)) };
    const options = { hostname, port, path: request.url, method: request.method, headers };
    const onward = httpRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    response.on("close", () => onward.destroy());
    onward.on("error", () => response.destroy());
    onward.end(body);
  });
  proxies.push(proxy);
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return `http://localhost:${(proxy.address() as AddressInfo).port}/mcp`;
}

test("passes the official conformance suite except for the baseline", async () => {
  const server = await fixture.http(["--tools", "bash,exec", "--answer-within", "6s"]);
  const token = await fixture.token("default");
  const { client, close } = await fixture.httpClient(server.url, token);
  const { structuredContent } = await client.callTool(bash("echo 123"));
  await close();
  const url = await inBetween(server.url, token, (structuredContent as { shell_id: string }).shell_id);
  const child = spawn(
    process.execPath,
    [PROGRAM, "server", "--url", url, "--suite", "all", "--expected-failures", BASELINE],
    {
      cwd: fixture.fixture.folder,
      stdio: "pipe",
    },
  );
  let report = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      report += data;
    });
  }
  const [code] = await once(child, "close");
  // The suite also fails when a scenario in the baseline passes. That scenario must then be removed from the baseline.
  assert.equal(code, 0, report.slice(-4000));
});

test("every exception in the baseline has a reason", () => {
  const entries = readFileSync(BASELINE, "utf8")
    .split("\n")
    .filter((line) => line.trim().startsWith("- "));
  assert.ok(entries.length > 0);
  for (const entry of entries) assert.match(entry, /^ {2}- [\w-]+ # \S.{10,}$/);
});
