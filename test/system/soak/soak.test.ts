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

test("killing gateways, zygotes and keepers under load loses no session and runs no command twice", async () => {
  const report = await soak({ seconds: 8, seed: 20_261, gateways: 2 });
  assert.deepEqual(report.findings, []);
  assert.ok(report.sessions > 0 && report.auditEntries > report.sessions);
  assert.ok(report.faults.gateways + report.faults.zygotes + report.faults.keepers > 0);
});

test("the verification reports missing sessions, repeated runs, changed results and leftovers", async () => {
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
    fixture.own.note({ what: "finding", text: "reported by a gateway" });
    const { findings } = await verify(fixture, { gateways: 0, zygotes: 0, keepers: 0 }, 500);
    for (const wanted of [
      /^reported by a gateway$/,
      /000000000000 was acknowledged but is not listed/,
      /was reported as killed \(null\) but is now completed \(3\)/,
      /command of twice ran 2 times/,
      /is completed but never ran/,
      /5 bytes of .* that follow\(\) returned at offset 0 are not in its log/,
      /has left the files ctl/,
      /process \d+ still runs: sleep/,
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
