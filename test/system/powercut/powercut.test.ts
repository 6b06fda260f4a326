import assert from "node:assert/strict";
import { test } from "node:test";
import { powercut, whyNot } from "../../../scripts/powercut/powercut.ts";

const skip = whyNot() ?? false;

test("with `power-loss`, everything that was acknowledged is there after a power failure", { skip }, async () => {
  const reports = await powercut({ cuts: 2, seed: 7, durability: "power-loss", longestMs: 1500 });
  assert.deepEqual(
    reports.flatMap(({ findings }) => findings),
    [],
  );
  assert.ok(reports.some(({ acknowledged }) => acknowledged.exits > 0 && acknowledged.audit > 0));
});

test("with `process`, records are consistent after a power failure, and say what may be missing", {
  skip,
}, async () => {
  const reports = await powercut({ cuts: 3, seed: 7, durability: "process", longestMs: 3000 });
  assert.deepEqual(
    reports.flatMap(({ findings }) => findings),
    [],
  );
  // The gateway was open each time, so entries may be missing each time.
  assert.deepEqual(
    reports.map(({ gaps }) => gaps),
    [1, 1, 1],
  );
});
