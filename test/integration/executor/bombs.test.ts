import assert from "node:assert/strict";
import { mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { RunRequest } from "../../../src/core/request.ts";
import type { RunResult } from "../../../src/core/result.ts";
import { groupsOf } from "../../fixtures/cgroups.ts";
import { compile } from "../../fixtures/compile.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());
const bomb = compile("bomb");
const MIB = 1 << 20;

/** Runs a bomb beside another session, and asserts that it leaves nothing behind and that the other one still works. */
async function survive(request: RunRequest, through = gateway): Promise<RunResult> {
  const beside = await through.start({ command: "cat", args: [], stdin: "open" });
  const result = await through.run({ timeoutMs: 60_000, ...request });
  await beside.write("still here\n");
  await until("the other session answers", async () => (await beside.logs()).text === "still here\n");
  await beside.kill({ graceMs: 0 });
  assert.equal((await through.run({ command: "echo", args: ["fine"] })).stdout, "fine\n");
  await until("all processes of the bomb have exited", () => fixture.alive().length === 0);
  await until("the session's cgroups are removed", () => groupsOf(result.id).length === 0);
  return result;
}

function assertEnded(result: RunResult, limit: string, value: RegExp): void {
  assert.deepEqual([result.status, result.error?.type], ["killed", "ResourceLimitExceeded"], JSON.stringify(result));
  assert.match(result.error?.message ?? "", new RegExp(`exceeded its ${limit} limit of ${value.source} \\(peak: `));
  assert.deepEqual(
    result.error?.recovery.map(({ action }) => action),
    ["increase_limits", "optimize"],
  );
  const { error, status } = gateway.session(result.id).info();
  assert.deepEqual([status, error?.message], ["killed", result.error?.message]);
}

for (const kind of ["fork", "sessions", "threads"]) {
  test(`a bomb (${kind}) is killed at the requested process limit`, async () => {
    const result = await survive({ command: bomb, args: [kind], limits: { processes: 64 } });
    assertEnded(result, "process", /64 processes and threads/);
  });

  test(`a bomb (${kind}) is killed at the default process limit`, async (t) => {
    const other = await fixture.open({ policy: { scope: "anywhere" } });
    t.after(() => other.close());
    assertEnded(await survive({ command: bomb, args: [kind] }, other), "process", /2048 processes and threads/);
  });
}

test("a memory bomb is killed at its limit, together with its shell", async () => {
  const limits = { memoryBytes: 64 * MIB };
  assertEnded(await survive({ command: bomb, args: ["memory"], limits }), "memory", /64 MiB/);
  const inShell = await survive({ command: `${bomb} memory; echo never; sleep 60`, limits });
  assertEnded(inShell, "memory", /64 MiB/);
  const usage = inShell.resourceUsage?.memoryPeakBytes ?? 0;
  assert.ok(usage > 32 * MIB && usage < 128 * MIB, `the peak usage was ${usage} bytes`);
});

test("the memory limit applies to the whole tree", async () => {
  const hold = (file: string) => `${bomb} hold 40 ${file}`;
  const never = fixture.path("never");
  const limits = { memoryBytes: 64 * MIB };
  assertEnded(await survive({ command: `${hold(never)} & ${hold(never)} & wait`, limits }), "memory", /64 MiB/);
  const alone = await survive({ command: hold(fixture.workspace), limits });
  assert.deepEqual([alone.status, alone.exitCode], ["completed", 0]);
});

test("a file bomb is killed at the disk limit", async (t) => {
  const TMPFS = 0x01021994;
  if (statfsSync(fixture.workspace).type === TMPFS) return t.skip("the kernel does not count writes to a tmpfs");
  const other = await fixture.open({ policy: { scope: "anywhere", limits: { diskBytes: 8 * MIB } } });
  t.after(() => other.close());
  const folder = fixture.path("pieces");
  mkdirSync(folder);
  assertEnded(await survive({ command: bomb, args: ["files", folder] }, other), "disk", /8 MiB/);
  const pieces = readdirSync(folder).length;
  assert.ok(pieces >= 31 && pieces < 4096, `${pieces} pieces of 256 KiB were written`);
  rmSync(folder, { recursive: true });
  const modest = await other.run({ command: `head -c ${4 * MIB} /dev/zero > ${join(fixture.workspace, "modest")}` });
  assert.deepEqual([modest.status, modest.exitCode], ["completed", 0]);
});

test("a command that exceeds the file size limit is killed, and the error names the limit", async (t) => {
  const other = await fixture.open({ policy: { scope: "anywhere", limits: { fileSize: MIB } } });
  t.after(() => other.close());
  for (const command of ["exec head -c 3000000 /dev/zero > big", "head -c 3000000 /dev/zero > big; exit $?"]) {
    assertEnded(await survive({ command, cwd: fixture.workspace }, other), "file size", /1 MiB/);
  }
});

test("a descriptor bomb uses up only its own descriptors", async (t) => {
  const other = await fixture.open({ policy: { scope: "anywhere", limits: { openFiles: 200 } } });
  t.after(() => other.close());
  const result = await survive({ command: bomb, args: ["descriptors"] }, other);
  assert.deepEqual([result.status, result.exitCode], ["completed", 24]);
  assert.match(result.stderr, /^opened 197 descriptors: Too many open files/);
});
