import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SoakEnvironment } from "../../../scripts/soak/environment.ts";
import { Random } from "../../../scripts/soak/random.ts";
import { soak } from "../../../scripts/soak/soak.ts";
import { verify } from "../../../scripts/soak/verify.ts";
import { openGateway } from "../../../src/gateway/open.ts";
import { UNHINDERED } from "../../fixtures/gateway.ts";
import { killAndWait } from "../../fixtures/processes.ts";

test("gateways, zygotes and keepers are killed under load, and everything adds up", async () => {
  const report = await soak({ seconds: 8, seed: 20_261, gateways: 2 });
  assert.deepEqual(report.findings, []);
  assert.ok(report.sessions > 0 && report.auditEntries > report.sessions);
  assert.ok(report.faults.gateways + report.faults.zygotes + report.faults.keepers > 0);
});

test("the reckoning finds what is missing, what is too much, and what is not as it was said", async () => {
  const fixture = new SoakEnvironment(new Random(1));
  const stray = spawn("sleep", ["600"], { env: { ...process.env, SALLYPORT_SOAK_MARK: fixture.mark } });
  try {
    const { state, workspace } = fixture;
    const gateway = await openGateway({ state, workspace, ...UNHINDERED });
    const { id } = await gateway.run({ command: "echo true; exit 3" });
    await gateway.close();
    writeFileSync(join(state, "sessions", id, "ctl"), "");
    writeFileSync(join(workspace, "ran", "twice"), "x\nx\n");
    const bytes = Buffer.from("false").toString("hex");
    fixture.own.note({ what: "ended", token: "never", id, status: "killed", exitCode: null, bytes: 5 });
    fixture.own.note({ what: "started", token: "never", id });
    fixture.own.note({ what: "started", token: "gone", id: "00000000-0000-7000-8000-000000000000" });
    fixture.own.note({ what: "seen", id, offset: 0, bytes });
    fixture.own.note({ what: "finding", text: "as it was told" });
    const { findings } = await verify(fixture, { gateways: 0, zygotes: 0, keepers: 0 }, 500);
    for (const wanted of [
      /^as it was told$/,
      /000000000000 was acknowledged, and nobody knows of it/,
      /was said to be killed \(null\) and is now completed \(3\)/,
      /command of twice ran 2 times/,
      /is completed and never ran/,
      /5 bytes of .* that were followed at 0 are not in its log/,
      /has left ctl/,
      /process \d+ is left: sleep/,
    ]) {
      assert.ok(
        findings.some((finding) => wanted.test(finding)),
        `${wanted} is not among ${findings.join("\n")}`,
      );
    }
    assert.equal(findings.length, 8, findings.join("\n"));
  } finally {
    await killAndWait(stray);
    fixture.remove();
  }
});
