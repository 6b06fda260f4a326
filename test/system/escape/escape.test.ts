import assert from "node:assert/strict";
import { chmodSync, copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { asUser, IS_ROOT, USERS } from "../../fixtures/as-user.ts";
import { compile } from "../../fixtures/compile.ts";
import { ATTEMPTS } from "./attempts.ts";
import type { Outcome } from "./runner.ts";

/** Runs every attempt with and without a sandbox. An attempt that fails without a sandbox proves nothing. */
const RUNNER = fileURLToPath(new URL("runner.ts", import.meta.url));

function installTools(folder: string): string[] {
  const tool = join(folder, "tool");
  const suid = join(folder, "suid");
  for (const copy of [tool, suid]) copyFileSync(compile("escape"), copy);
  chmodSync(tool, 0o755);
  chmodSync(suid, IS_ROOT ? 0o4755 : 0o755);
  return [tool, suid];
}

/** Returns the minimum number of attempts that succeed without a sandbox: most for root with all capabilities. */
function least(uid: number | null): number {
  const held = /CapEff:\s+([0-9a-f]+)/.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? "0";
  const all = (BigInt(`0x${held}`) & 0x1fffffn) === 0x1fffffn;
  return uid === null && IS_ROOT && all ? 150 : 80;
}

for (const { who, uid } of USERS) {
  describe(`sandbox escape attempts as ${who}`, () => {
    const outcomes = asUser<Outcome>(uid, RUNNER, installTools);
    for (const { name, impossible, escaped, changed, said } of outcomes) {
      const skip = impossible !== null && `fails without a sandbox too: ${impossible.slice(0, 100)}`;
      test(`the sandbox prevents an attempt to ${name}`, { skip }, () => {
        assert.equal(escaped, false, `the attempt succeeded: ${said}`);
        assert.equal(changed, false, "the attempt changed files outside the workspace");
      });
    }
    test("enough attempts succeed without a sandbox", () => {
      const open = outcomes.filter(({ impossible }) => impossible === null).length;
      assert.ok(open >= least(uid), `only ${open} of ${ATTEMPTS.length} attempts succeeded`);
    });
  });
}
