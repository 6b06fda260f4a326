import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { ENTRY, Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(() => box.remove());

async function withNode(version: string) {
  const preload = join(box.folder, `node-${version}.cjs`);
  writeFileSync(
    preload,
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`,
  );
  return box.run(["--version"], { nodeArgs: ["-r", preload] });
}

test("rejects an old version of Node with one line and exit code 125", async () => {
  for (const version of ["12.22.12", "20.20.2", "22.18.9"]) {
    const { stdout, stderr, code } = await withNode(version);
    assert.deepEqual({ stdout, code }, { stdout: "", code: 125 });
    assert.match(
      stderr,
      new RegExp(`^sallyport: requires Node 22\\.19 or newer, but [^ ]+ is v${version}; [^\\n]*\\n$`),
    );
  }
});

test("answers an MCP host that starts it with an old version of Node", async () => {
  const preload = join(box.folder, "old.cjs");
  writeFileSync(
    preload,
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });',
  );
  const input = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\nnoise\n{"jsonrpc":"2.0","method":"x"}\n';
  for (const args of [["mcp"], ["--agent", "mcp", "mcp", "--tools", "bash"]]) {
    const { stdout, stderr, code } = await box.run(args, { nodeArgs: ["-r", preload], input });
    const { id, error, ...rest } = JSON.parse(stdout);
    assert.deepEqual({ id, rest, code }, { id: 1, rest: { jsonrpc: "2.0" }, code: 125 });
    assert.equal(`${error.message}\n`, stderr);
    assert.match(error.message, /requires Node 22\.19 or newer, but .* is v20\.20\.2;/);
  }
  for (const args of [
    ["mcp", "--http", "0"],
    ["run", "--", "mcp"],
    ["--agent", "mcp"],
  ]) {
    assert.equal((await box.run(args, { nodeArgs: ["-r", preload], input })).stdout, "");
  }
});

test("accepts supported versions of Node", async () => {
  for (const version of ["22.19.0", "24.0.0", "30.1.2"]) assert.equal((await withNode(version)).code, 0);
});

test("the entry file has no syntax that Node 12 cannot parse", () => {
  assert.doesNotMatch(readFileSync(ENTRY, "utf8"), /\?\?|\?\.|^await |#\w+ =/m);
});

test("hides only Node's warning about SQLite", async () => {
  const preload = join(box.folder, "warn.cjs");
  writeFileSync(
    preload,
    `const exit = process.exit;
    process.exit = () => {
      process.emitWarning("SQLite is an experimental feature", "ExperimentalWarning");
      process.emitWarning("WASI is an experimental feature", "ExperimentalWarning");
      process.emitWarning("SQLite is old", "DeprecationWarning");
      setTimeout(exit, 10);
    };`,
  );
  const { stderr } = await box.run(["--version"], { nodeArgs: ["-r", preload] });
  assert.match(stderr, /WASI is an experimental/);
  assert.match(stderr, /SQLite is old/);
  assert.doesNotMatch(stderr, /SQLite is an experimental/);
});

test("stores compiled code in the state folder, not in a shared directory", () => {
  assert.match(readFileSync(ENTRY, "utf8"), /enableCompileCache\(join\(state, "compiled"\)\)/);
});
