import assert from "node:assert/strict";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Finding } from "../../../src/doctor/finding.ts";
import { type LimitSupport, limitSupport } from "../../../src/executor/native/limits.ts";
import { keeperBinary } from "../../../src/executor/native/zygote.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const fixture = new GatewayFixture();
const box = new Sandbox();
after(() => {
  box.remove();
  return fixture.close();
});

/** Returns the check of a machine whose keeper supports these limits, and is otherwise the real one. */
async function limitsOn(support: LimitSupport): Promise<Finding | undefined> {
  const keeper = join(box.folder, "keeper");
  const script = `#!/bin/sh\n[ "$1" = limits ] && echo '${JSON.stringify(support)}' && exit\nexec ${keeperBinary()} "$@"\n`;
  writeFileSync(keeper, script, { mode: 0o755 });
  copyFileSync(`${keeperBinary()}.id`, `${keeper}.id`);
  const { stdout } = await box.run(["doctor", "--json"], { env: { SALLYPORT_KEEPER: keeper } });
  return (JSON.parse(stdout) as { findings: Finding[] }).findings.find(({ name }) => name === "limits");
}

test("says of each limit how it is enforced", async () => {
  const some = await limitsOn({ version: 2, memory: true, cpu: false, processes: true, scope: true });
  assert.deepEqual(
    [some?.status, some?.message],
    [
      "warn",
      "enforced by the kernel (cgroup v2, in scopes of your systemd user manager): memory, processes; not enforced: CPU",
    ],
  );
  const none = await limitsOn({ version: 2, memory: false, cpu: false, processes: false, scope: false });
  assert.deepEqual(
    [none?.status, none?.message],
    ["warn", "enforced by polling: memory, processes; not enforced: CPU"],
  );
});

test("agrees with the warnings of a command that has all limits", async () => {
  const support = limitSupport();
  assert.ok(support);
  const gateway = await fixture.open();
  const limits = { memoryBytes: 64 << 20, cpu: 0.5, processes: 100 };
  const { warnings } = await gateway.run({ command: "true", args: [], limits });
  const lacking = warnings.filter((warning) => /cgroup is available/.test(warning));
  assert.equal(lacking.length, [support.memory, support.cpu, support.processes].filter((works) => !works).length);
});
