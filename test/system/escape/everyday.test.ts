import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { asUser, USERS } from "../../fixtures/as-user.ts";
import type { EverydayOutcome } from "./everyday.ts";

const RUNNER = fileURLToPath(new URL("everyday.ts", import.meta.url));

for (const { who, uid } of USERS) {
  describe(`everyday commands as ${who}`, () => {
    for (const { command, asked, exitCode, output } of asUser<EverydayOutcome>(uid, RUNNER)) {
      test(`${command} runs in the sandbox without approval`, () => {
        assert.equal(exitCode, 0, output);
        assert.equal(asked, false, "the command required approval");
      });
    }
  });
}
