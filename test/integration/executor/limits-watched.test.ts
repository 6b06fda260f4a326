import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { RunResult } from "../../../src/core/result.ts";
import { groupsOf } from "../../fixtures/cgroups.ts";
import { compile } from "../../fixtures/compile.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";
import { zygoteWithoutGroups } from "../../fixtures/zygote.ts";

const fixture = new GatewayFixture();
await zygoteWithoutGroups(fixture);
const gateway = await fixture.open();
after(() => fixture.close());
const bomb = compile("bomb");
const MIB = 1 << 20;

function assertEnded(result: RunResult, message: RegExp): void {
  assert.deepEqual([result.status, result.error?.type], ["killed", "ResourceLimitExceeded"], JSON.stringify(result));
  assert.match(result.error?.message ?? "", message);
}

test("without cgroups a memory limit is enforced by polling, and the result reports that", async () => {
  const result = await gateway.run({ command: `${bomb} memory; echo never`, limits: { memoryBytes: 64 * MIB } });
  assertEnded(result, /^The command exceeded its memory limit of 64 MiB \(peak: \d+ MiB\)/);
  assert.match(result.warnings.join("\n"), /^the memory limit was enforced by polling, not by the kernel/);
  assert.ok((result.resourceUsage?.memoryPeakBytes ?? 0) > 64 * MIB);
  await until("all processes have exited", () => fixture.alive().length === 0);
});

test("counts memory that processes share once", async () => {
  // The child shares all 40 MiB with its parent.
  const command = `${compile("consume")} 300 40 0 ${fixture.path("shared")}`;
  const result = await gateway.run({ command, limits: { memoryBytes: 64 * MIB } });
  assert.deepEqual([result.status, result.exitCode], ["completed", 0], JSON.stringify(result.error));
});

for (const kind of ["fork", "sessions", "threads"]) {
  test(`without cgroups a bomb (${kind}) is killed at the requested limit`, async () => {
    const result = await gateway.run({ command: bomb, args: [kind], limits: { processes: 100 }, timeoutMs: 60_000 });
    assertEnded(result, /^The command exceeded its process limit of 100 processes and threads \(peak: \d+ /);
    assert.match(result.warnings.join("\n"), /^the process limit was enforced by polling/);
    await until("all processes have exited", () => fixture.alive().length === 0);
  });
}

test("without cgroups a CPU limit is not enforced, and the result reports that", async () => {
  const result = await gateway.run({ command: "true", args: [], limits: { cpu: 0.5 } });
  assert.deepEqual([result.status, result.exitCode], ["completed", 0]);
  assert.match(result.warnings.join("\n"), /^the CPU limit was not enforced: no cpu cgroup is available/);
  assert.deepEqual(groupsOf(result.id), []);
});
