import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { MARK } from "../../fixtures/gateway.ts";
import { McpFixture } from "../../fixtures/mcp.ts";
import { ENTRY } from "../../fixtures/sallyport.ts";

const fixture = new McpFixture({ toolsets: { exec: true } });
after(() => fixture.close());

const BIN = fileURLToPath(new URL("../../../node_modules/.bin/mcp-inspector", import.meta.url));
/** The inspector does not pass its own environment to the server. */
const ENV = ["SALLYPORT_STATE", "XDG_CONFIG_HOME", MARK].flatMap((name) => ["-e", `${name}=${fixture.env[name]}`]);
const TOOLSETS = "runner,process,exec,shell,bash";

interface Report {
  code: number;
  out: string;
  err: string;
}

async function inspect(args: string[]): Promise<Report> {
  const child = spawn(process.execPath, [BIN, "--cli", ...args], {
    cwd: fixture.fixture.workspace,
    env: { ...fixture.env, HOME: fixture.fixture.folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (data) => {
    out += data;
  });
  child.stderr.on("data", (data) => {
    err += data;
  });
  const [code] = await once(child, "close");
  return { code: Number(code), out, err };
}

for (const era of ["legacy", "modern"]) {
  const overStdio = (toolset: string, ...args: string[]) =>
    inspect([...args, ...ENV, "--protocol-era", era, "--", process.execPath, ENTRY, "mcp", "--tools", toolset]);

  test(`the inspector accepts the tools of all toolsets in strict mode (${era})`, async () => {
    const { code, out, err } = await overStdio(TOOLSETS, "--method", "tools/list", "--strict", "--format", "json");
    assert.equal(code, 0, `${out}${err}`);
    for (const name of ["run", "process.run", "execute", "exec", "Bash"])
      assert.ok(out.includes(`"name":"${name}"`), name);
  });

  test(`the inspector calls a tool over stdio (${era})`, async () => {
    const args = ["--method", "tools/call", "--tool-name", "Bash", "--tool-args-json"];
    const { code, out, err } = await overStdio("bash", ...args, '{"command":"echo inspected","description":"x"}');
    assert.equal(code, 0, err);
    assert.match(out, /inspected/);
  });

  test(`the inspector lists and reads resources over HTTP (${era})`, async () => {
    const server = await fixture.http();
    const token = await fixture.token("default", `inspector-${era}`);
    const overHttp = (...args: string[]) =>
      inspect([
        "--server-url",
        server.url,
        "--transport",
        "http",
        "--header",
        `Authorization: Bearer ${token}`,
        "--protocol-era",
        era,
        ...args,
      ]);
    const { code, out, err } = await overHttp("--method", "resources/list");
    assert.equal(code, 0, err);
    assert.match(out, /"resources"/);
    const templates = await overHttp("--method", "resources/templates/list");
    assert.match(templates.out, /sallyport:\/\/session/, templates.err);
  });
}
