import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { buildHarness } from "../../fixtures/keeper-build.ts";

test("a keeper that is killed as it becomes busy does not change the number of idle keepers", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-pool-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = join(folder, "keeper-pool");
  buildHarness(fileURLToPath(new URL("keeper-pool.c", import.meta.url)), program);
  // Signal 11 would mean that the keeper wrote to the pool outside its slot.
  const output = execFileSync(program, [folder], { encoding: "utf8" });
  assert.equal(output, "signal 9, greeted yes, idle 2000 1999 1999, slot reused\n");
});
