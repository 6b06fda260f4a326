import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { asUser, USERS } from "../../fixtures/as-user.ts";
import { JOBS } from "./jobs.ts";
import type { Outcome } from "./runner.ts";

const RUNNER = fileURLToPath(new URL("runner.ts", import.meta.url));

for (const { who, uid } of USERS) {
  describe(`common tasks in the default sandbox profile as ${who}`, () => {
    const outcomes = asUser<Outcome>(uid, RUNNER);
    for (const { name, missing, exitCode, said } of outcomes) {
      test(`the sandbox allows ${name}`, { skip: missing !== null && `${missing} is not installed` }, () =>
        assert.equal(exitCode, 0, said),
      );
    }
    test("every task was run or skipped", () => assert.equal(outcomes.length, JOBS.length));
  });
}
