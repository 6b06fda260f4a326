import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import type { GatewayOptions } from "../../../src/gateway/options.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
after(() => fixture.close());

mkdirSync(fixture.path("bin"));
for (const planted of ["date", "bin/date"]) {
  writeFileSync(fixture.path(planted), "#!/bin/sh\necho planted\n");
  chmodSync(fixture.path(planted), 0o755);
}

async function openWith(path: string | undefined, options: GatewayOptions = {}) {
  const own = process.env.PATH;
  if (path === undefined) delete process.env.PATH;
  else process.env.PATH = path;
  const gateway = await fixture.open({
    policy: { security: "allowlist", ask: "off", allowlist: [{ pattern: "date" }], env: { pass: ["PATH"] } },
    ...options,
  });
  process.env.PATH = own;
  return gateway;
}

for (const path of [":/usr/bin:/bin", "/nowhere::/usr/bin:/bin", "bin:/usr/bin:/bin", ".:/usr/bin", "", undefined]) {
  test(`PATH ${path ?? "unset"}: a file of the workspace never runs as the checked program`, async () => {
    const gateway = await openWith(path);
    for (const args of [undefined, []]) {
      const { status, stdout } = await gateway.run({ command: "date", ...(args ? { args } : {}) });
      assert.equal(status, "completed");
      assert.doesNotMatch(stdout, /planted/);
    }
  });
}

test("with a PATH given by the caller: a file of the workspace never runs as the checked program", async () => {
  const gateway = await openWith("/usr/bin:/bin");
  const { status, stdout } = await gateway.run({ command: "date", env: { PATH: "bin::/usr/bin" } });
  assert.equal(status, "completed");
  assert.doesNotMatch(stdout, /planted/);
});
