import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { killAndWait, zygotesOf } from "../../fixtures/processes.ts";
import { EmptyFolder, npm, REPOSITORY } from "./empty-folder.ts";

const skip = !existsSync(join(REPOSITORY, "dist/index.js"))
  ? "dist/ is missing; run `npm run build`"
  : process.platform !== "linux" || process.arch !== "x64"
    ? "the package is built on linux-x64 only"
    : false;

function tool(name: string, args: string[]) {
  const program = join(REPOSITORY, "node_modules/.bin", name);
  return spawnSync(program, args, { cwd: REPOSITORY, encoding: "utf8", timeout: 300_000 });
}

async function registryResponds(): Promise<boolean> {
  const registry = execFileSync(process.execPath, [npm(), "config", "get", "registry"], { encoding: "utf8" }).trim();
  try {
    return (await fetch(new URL("-/ping", registry), { signal: AbortSignal.timeout(5000) })).ok;
  } catch {
    return false;
  }
}

/** Reports whether an ELF program is statically linked: it has no program header for a dynamic linker. */
function isStatic(program: string): boolean {
  const elf = readFileSync(program);
  const [at, size, count] = [Number(elf.readBigUInt64LE(32)), elf.readUInt16LE(54), elf.readUInt16LE(56)];
  const kinds = Array.from({ length: count }, (_, index) => elf.readUInt32LE(at + index * size));
  const INTERPRETER = 3;
  return !kinds.includes(INTERPRETER);
}

suite("the package", { skip }, () => {
  let place: EmptyFolder;
  before(async () => {
    place = new EmptyFolder();
    place.install(await registryResponds());
  });
  after(() => place?.close());

  test("contains the program, the docs and the schema, and no tests or build files", () => {
    const names = execFileSync("tar", ["-tzf", place.tarball], { encoding: "utf8" }).trim().split("\n");
    const kinds = new Set(names.map((name) => name.split("/")[1]));
    const wanted = [
      "bin",
      "dist",
      "docs",
      "native",
      "profiles",
      "schema",
      "package.json",
      "README.md",
      "LICENSE",
      "CHANGELOG.md",
    ];
    assert.deepEqual([...kinds].sort(), [...wanted, "SECURITY.md"].sort());
    assert.deepEqual(
      names.filter((name) => /\.test\.|\/test\/|^package\/native\/build\/|\.map$|fixtures/.test(name)),
      [],
    );
    const programs = ["keeper", "relay"].map((name) => `native/prebuilt/linux-x64/${name}`);
    const profiles = ["profiles/claude-code.json", "schema/agent-profile.schema.json"];
    for (const needed of ["dist/index.js", "dist/index.d.ts", "dist/sallyport.1", ...programs, ...profiles]) {
      assert.ok(names.includes(`package/${needed}`), needed);
    }
  });

  test("passes publint and are-the-types-wrong", () => {
    const lint = tool("publint", ["--strict", place.tarball]);
    assert.equal(lint.status, 0, lint.stdout + lint.stderr);
    const types = tool("attw", [place.tarball, "--profile", "esm-only", "--no-emoji", "--format", "ascii"]);
    assert.equal(types.status, 0, types.stdout + types.stderr);
  });

  test("contains a static keeper that runs without a compiler and without the install script", () => {
    const sallyport = join(place.project, "node_modules/.bin/sallyport");
    const built = join(place.package, "native/build");
    const keeper = join(place.package, "native/prebuilt/linux-x64/keeper");
    assert.ok(isStatic(keeper));
    assert.ok(!isStatic(process.execPath), "Node.js itself is dynamically linked");
    rmSync(built, { recursive: true, force: true });
    const once = place.run(sallyport, ["run", "--", "echo", "hi"]);
    assert.deepEqual([once.stdout, once.status], ["hi\n", 0], once.stderr);
    assert.equal(zygotesOf(place.state).length, 1, "the native executor did not run the command");
    const script = place.run(process.execPath, [join(place.package, "native/install.js")]);
    assert.deepEqual([script.status, script.stdout, script.stderr], [0, "", ""]);
    assert.deepEqual(readFileSync(join(built, "keeper")), readFileSync(keeper));
    const again = place.run(sallyport, ["run", "-c", "echo hi again"]);
    assert.deepEqual([again.stdout, again.status], ["hi again\n", 0], again.stderr);
    // As npm runs it, the script puts the native client in place of the launcher.
    const client = join(place.package, "native/prebuilt/linux-x64/client");
    assert.ok(isStatic(client));
    const asNpm = { ...place.env, npm_config_user_agent: "npm/11" };
    assert.equal(place.run(process.execPath, [join(place.package, "native/install.js")], asNpm).status, 0);
    for (const name of ["sallyport.cjs", "sallyport-sh.cjs"])
      assert.deepEqual(readFileSync(join(place.package, "bin", name)), readFileSync(client), name);
    const native = place.run(sallyport, ["run", "-c", "echo hi from the client"]);
    assert.deepEqual([native.stdout, native.status], ["hi from the client\n", 0], native.stderr);
    const { version } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8"));
    assert.ok(place.run(sallyport, ["--version"]).stdout.includes(version));
  });

  test("answers the MCP handshake without loading the code that runs commands", () => {
    const folder = join(place.package, "dist/cli");
    const start = readdirSync(folder).filter((name) => /^greet-[^.]*\.js$/.test(name));
    assert.equal(start.length, 1, String(start));
    const loaded = new Set(start);
    for (const name of loaded) {
      const code = readFileSync(join(folder, name), "utf8");
      for (const [, from = ""] of code.matchAll(/\b(?:import|from)\s*"([^"]+)"/g)) {
        assert.ok(from.startsWith("./") || from.startsWith("node:"), `${name} imports the package ${from}`);
        if (from.startsWith("./")) loaded.add(from.slice(2));
      }
    }
    assert.deepEqual(
      [...loaded].filter((name) => /^(?:core-|cold-|mcp-sdk)/.test(name)),
      [],
    );
  });

  test("has types that a strict project can use", () => {
    for (const name of ["@types/node", "typescript", "undici-types"]) place.link(name);
    const text = `import { openGateway, type RunResult } from "sallyport";
const gateway = await openGateway();
const result: RunResult = await gateway.run({ command: "echo", args: ["typed"] });
// @ts-expect-error a command is a string
const wrong = () => gateway.run({ command: 5 });
console.log(result.stdout, typeof wrong);
await gateway.close();
`;
    writeFileSync(join(place.project, "main.ts"), text);
    const options = [
      "--strict",
      "--noEmit",
      "--module",
      "nodenext",
      "--target",
      "es2024",
      "--types",
      "node",
      "main.ts",
    ];
    const checked = place.run(join(REPOSITORY, "node_modules/.bin/tsc"), options);
    assert.equal(checked.status, 0, checked.stdout);
    const ran = place.run(process.execPath, ["--disable-warning=ExperimentalWarning", "main.ts"]);
    assert.equal(ran.stdout, "typed\n function\n", ran.stderr);
  });

  test("runs an agent, and its commands in sessions of their own", () => {
    const program = join(place.project, "claude");
    writeFileSync(program, `#!/bin/sh\n"$SHELL" -c 'echo from a command'\n`, { mode: 0o755 });
    writeFileSync(join(place.project, "profile.json"), JSON.stringify({ extends: "claude-code", programs: [program] }));
    const sallyport = join(place.project, "node_modules/.bin/sallyport");
    const ran = place.run(sallyport, ["agent", "claude-code", "--profile", join(place.project, "profile.json")]);
    assert.deepEqual([ran.stdout, ran.status], ["from a command\n", 0], ran.stderr);
    const listed = place.run(sallyport, ["ps", "-a", "--agent", "claude-code"]).stdout;
    assert.match(listed, /completed\t0\t.*\techo from a command\t/);
  });

  test("serves the console and the HTTP API", async () => {
    const command = join(place.project, "node_modules/.bin/sallyport");
    const args = ["serve", "--listen", "127.0.0.1:0", "--json"];
    const service = spawn(command, args, { cwd: place.project, env: place.env, stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [printed] = (await once(service.stdout, "data")) as [Buffer];
      const { url } = JSON.parse(String(printed)) as { url: string };
      for (const encoding of ["br", "gzip", "identity"]) {
        const page = await fetch(url, { headers: { "Accept-Encoding": encoding } });
        assert.equal(page.status, 200, encoding);
        assert.match(await page.text(), /<script type="module"/, encoding);
      }
      assert.equal((await fetch(new URL("/openapi.json", url))).status, 200);
      assert.equal((await fetch(new URL("/v1/sessions", url))).status, 401);
    } finally {
      await killAndWait(service);
    }
  });

  test("serves MCP over stdio", async () => {
    const client = new Client({ name: "test", version: "1" });
    const command = join(place.project, "node_modules/.bin/sallyport");
    const transport = new StdioClientTransport({ command, args: ["mcp"], cwd: place.project, env: place.env });
    await client.connect(transport);
    try {
      const answer = await client.callTool({
        name: "Bash",
        arguments: { command: "echo over stdio", description: "x" },
      });
      assert.match(JSON.stringify(answer.content), /over stdio/);
    } finally {
      await client.close();
    }
  });
});
