import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
after(() => fixture.close());

const INDEX = fileURLToPath(new URL("../../../src/index.ts", import.meta.url));

test("a pending reply of a keeper keeps the process alive", () => {
  const program = `
    import { openGateway } from ${JSON.stringify(INDEX)};
    const gateway = await openGateway({ workspace: ${JSON.stringify(fixture.workspace)}, configuration: null, policy: { require: false } });
    const session = await gateway.start({ command: "cat", stdin: "open" });
    await session.extend(60_000);
    await session.write("hello");
    await session.closeStdin();
    console.log((await session.wait()).status, (await session.logs()).text);
  `;
  const args = ["--input-type=module", "--disable-warning=ExperimentalWarning", "-e", program];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { env: fixture.env, encoding: "utf8" });
  assert.deepEqual({ stdout, stderr, status }, { stdout: "completed hello\n", stderr: "", status: 0 });
});
