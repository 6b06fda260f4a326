import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { RunRequest } from "../../../src/core/request.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

let fixture: GatewayFixture;
let gateway: Gateway;
before(async () => {
  fixture = new GatewayFixture();
  // Approvals are off, since pending requests have a limit of their own.
  gateway = await fixture.open({ policy: { ask: "off" } });
});
after(() => fixture.close());

const MB = "x".repeat(1 << 20);

function stored(): number {
  return ["", "-wal"].reduce((sum, end) => sum + statSync(join(fixture.state, `sallyport.db${end}`)).size, 0);
}

const LONG: [string, RunRequest][] = [
  ["a blocked command with long arguments", { command: "shutdown", args: [MB, MB, MB] }],
  ["a blocked command with very many arguments", { command: "shutdown", args: Array(300_000).fill("xxxxxxxx") }],
  ["a blocked command with very many empty arguments", { command: "shutdown", args: Array(1_000_000).fill("") }],
  ["shell text that is too long to run", { command: `: ${MB}${MB}${MB}` }],
  ["a request with a working directory that is too long", { command: "true", cwd: `${MB}${MB}${MB}` }],
  ["a request with a variable name that is too long", { command: "true", env: { [`${MB}_TOKEN`]: "x" } }],
];

for (const [what, request] of LONG) {
  test(`${what} is truncated in the database, with a note about the omitted part`, async () => {
    const before = stored();
    const result = await gateway.run(request);
    assert.ok(["failed", "blocked", "denied"].includes(result.status), result.status);
    assert.ok(stored() - before < 1 << 20, `${stored() - before} bytes were stored`);
    const { command, args, cwd } = gateway.session(result.id).info();
    const row = JSON.stringify([command, args, cwd]);
    if (row.length > 1000) assert.match(row, /… \[\d+ more/);
  });
}

test("paths count towards the size limit of a request", async () => {
  const path = "x".repeat(5 << 20);
  for (const part of [{ cwd: path }, { logFile: path }, { writable: [path] }]) {
    await assert.rejects(gateway.run({ command: "true", ...part }), { type: "ArgumentsTooLong" });
  }
});

test("stores a runnable command completely and truncates the arguments of a refused one", async () => {
  const info = async (request: RunRequest) => gateway.session((await gateway.run(request)).id).info();
  const text = `: ${"é".repeat(60_000)}`;
  assert.equal((await info({ command: text })).command, text);
  const many = ["a", "b".repeat(100_000), "c".repeat(100_000), "d".repeat(100_000), "e"];
  assert.deepEqual((await info({ command: "true", args: many })).args, many);
  assert.deepEqual((await info({ command: "shutdown", args: many })).args, [...many.slice(0, 3), "… [2 more]"]);
});
