import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { sandboxCapabilities } from "../../../src/executor/native/probe.ts";
import { limitedKeeper } from "../../fixtures/limited-keeper.ts";
import { Waiting } from "../../fixtures/prefork-fixture.ts";
import { Cell } from "../../fixtures/sandbox-fixture.ts";
import { visibleFolder } from "../../fixtures/visible-folder.ts";

process.env.SALLYPORT_KEEPER = limitedKeeper({ namespaces: false });
const tier = sandboxCapabilities();

test("a preforked child runs its command where a container forbids unshare", {
  skip: tier.landlock < 3 ? "needs Landlock 3" : false,
}, async () => {
  // Without a mount namespace, the rules name the folders beside the workspace, and those in /tmp change all the time.
  const quiet = visibleFolder("sallyport-prefork-");
  process.env.TMPDIR = quiet;
  const waiting = new Waiting(await Cell.open(), false);
  try {
    const { stdout: first } = await waiting.run("ls /proc/self/fd");
    const { stdout, record } = await waiting.use("ls /proc/self/fd");
    assert.deepEqual([record.code, record.step, stdout], [0, undefined, first]);
  } finally {
    await waiting.cell.close();
    rmSync(quiet, { recursive: true });
  }
});
