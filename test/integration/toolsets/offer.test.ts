import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TOOLSETS } from "../../../src/core/settings.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import type { Tool, ToolsetName } from "../../../src/toolsets/tool.ts";
import { assertDistinctNames, tools } from "../../../src/toolsets/tools.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
let gateway: Gateway;
let all: Tool[];
before(async () => {
  gateway = await fixture.open({ policy: { toolsets: { exec: true } } });
  all = tools(gateway, TOOLSETS);
});
after(() => fixture.close());

type Schema = Record<string, unknown> & { properties?: Record<string, Schema>; items?: Schema };

/** Yields every nested schema with its path. */
function* within(schema: Schema, path = ""): Generator<[string, Schema]> {
  yield [path, schema];
  for (const [name, each] of Object.entries(schema.properties ?? {})) yield* within(each, `${path}.${name}`);
  if (schema.items) yield* within(schema.items, `${path}[]`);
}

test("all toolsets can be offered together, in the requested order", () => {
  assert.deepEqual([...new Set(all.map(({ toolset }) => toolset))], TOOLSETS);
  assert.deepEqual(
    tools(gateway, ["bash", "runner", "bash"]).map(({ name }) => name),
    ["Bash", "BashOutput", "KillShell", "run", "run_background", "kill_process", "is_blocked"],
  );
});

test("every tool has a title, a description, both schemas and all four annotations", () => {
  for (const { name, title, description, inputSchema, outputSchema, annotations } of all) {
    assert.ok(title && description, name);
    assert.deepEqual([inputSchema.type, outputSchema.type], ["object", "object"], name);
    assert.equal(inputSchema.additionalProperties, false, name);
    assert.deepEqual(
      Object.entries(annotations).map(([hint, value]) => [hint, typeof value]),
      ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].map((hint) => [hint, "boolean"]),
      name,
    );
  }
});

test("every parameter of every tool has a description", () => {
  for (const { name, inputSchema } of all) {
    for (const [path, { description }] of within(inputSchema)) {
      if (path !== "" && !path.endsWith("[]")) assert.ok(description, `${name}${path}`);
    }
  }
});

test("tool names are valid for every MCP host", () => {
  for (const { name } of all) assert.match(name, /^[A-Za-z0-9_.-]{1,64}$/);
});

test("the MCP list of all tools is at most 64 KiB", () => {
  const list = all.map(({ name, title, description, inputSchema, outputSchema, annotations, meta }) => ({
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
    ...(meta ? { _meta: meta } : {}),
  }));
  const bytes = Buffer.byteLength(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { tools: list } }));
  assert.ok(bytes <= 64 * 1024, `${bytes} bytes`);
});

test("schemas are plain JSON data", () => {
  for (const { inputSchema, outputSchema } of all) {
    for (const schema of [inputSchema, outputSchema]) assert.deepEqual(JSON.parse(JSON.stringify(schema)), schema);
  }
});

test("rejects two tools with the same name and names both toolsets", () => {
  const clash = [
    { name: "run", toolset: "runner" },
    { name: "exec", toolset: "shell" },
    { name: "run", toolset: "process" },
  ] as const;
  assert.throws(() => assertDistinctNames(clash), {
    type: "InvalidConfiguration",
    message: 'The toolsets runner and process both have a tool named "run".',
  });
  assertDistinctNames(all);
});

test("rejects an unknown toolset and suggests a known one", () => {
  for (const name of ["bsah", "", "__proto__", "toString"]) {
    assert.throws(() => tools(gateway, name as ToolsetName), { type: "InvalidRequest", message: /^Unknown toolset/ });
  }
  assert.throws(() => tools(gateway, "bsah" as ToolsetName), { message: /did you mean `bash`\?/ });
});

test("a disabled toolset has no tools, and exec is disabled by default", async () => {
  const other = await fixture.open({ policy: { toolsets: { bash: false } } });
  assert.deepEqual(tools(other, ["bash", "exec"]), []);
  assert.equal(tools(other, "shell").length, 2);
});

test("configured permissions take precedence over a toolset's", async () => {
  const open = await fixture.open({
    policy: { toolsets: { exec: true }, permissions: { run: "autonomous", kill: "deny" } },
    approve: async () => assert.fail("an approval was requested"),
  });
  const [execute] = tools(open, "exec");
  assert.equal((await execute?.call({ command: "echo free" }))?.structured.output, "free\n");
  const [Bash, , KillShell] = tools(open, "bash");
  const { shell_id } = (await Bash?.call({ command: "sleep 60", description: "to stay", run_in_background: true }))
    ?.structured ?? { shell_id: "" };
  const refused = await KillShell?.call({ shell_id });
  assert.equal((refused?.structured.error as { type: string } | undefined)?.type, "CommandDenied");
  await gateway.session(String(shell_id)).kill();
});
