import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { McpHouse } from "./house.ts";

const house = new McpHouse();
const proxies: Server[] = [];
after(async () => {
  for (const proxy of proxies) proxy.close();
  await house.close();
});

const PROGRAM = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/package.json")).replace(
  "package.json",
  "dist/index.js",
);
const BASELINE = fileURLToPath(new URL("conformance-baseline.yml", import.meta.url));

/** The suite shows no token: this puts one to each of its requests, and changes nothing else. */
async function withToken(url: string, token: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const proxy = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const options = { hostname, port, path, method, headers: { ...headers, authorization: `Bearer ${token}` } };
    const onward = httpRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    response.on("close", () => onward.destroy());
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  proxies.push(proxy);
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return `http://localhost:${(proxy.address() as AddressInfo).port}/mcp`;
}

test("the official conformance suite passes, except for what the baseline names", async () => {
  const server = await house.http(["--tools", "bash"]);
  const url = await withToken(server.url, await house.token("default"));
  const child = spawn(
    process.execPath,
    [PROGRAM, "server", "--url", url, "--suite", "all", "--expected-failures", BASELINE],
    {
      cwd: house.house.folder,
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
  // Also when something of the baseline passes by now: then it has to leave it.
  assert.equal(code, 0, report.slice(-4000));
});

test("every exception in the baseline has its reason", () => {
  const entries = readFileSync(BASELINE, "utf8")
    .split("\n")
    .filter((line) => line.trim().startsWith("- "));
  assert.ok(entries.length > 0);
  for (const entry of entries) assert.match(entry, /^ {2}- [\w-]+ # \S.{10,}$/);
});
