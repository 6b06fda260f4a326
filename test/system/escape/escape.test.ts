import assert from "node:assert/strict";
import { chmodSync, copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { asUser, IS_ROOT, USERS } from "../../fixtures/as-user.ts";
import { compile } from "../../fixtures/compile.ts";
import { ATTEMPTS } from "./attempts.ts";
import type { Outcome } from "./runner.ts";

/** Every way out is tried by a real program, free and confined. Without the first the second would prove nothing. */
const RUNNER = fileURLToPath(new URL("runner.ts", import.meta.url));

function furnish(folder: string): string[] {
  const tool = join(folder, "tool");
  const suid = join(folder, "suid");
  for (const copy of [tool, suid]) copyFileSync(compile("escape"), copy);
  chmodSync(tool, 0o755);
  chmodSync(suid, IS_ROOT ? 0o4755 : 0o755);
  return [tool, suid];
}

/** To root with all capabilities so many ways are open; in a container, or to an ordinary user, fewer. */
function least(uid: number | null): number {
  const held = /CapEff:\s+([0-9a-f]+)/.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? "0";
  const all = (BigInt(`0x${held}`) & 0x1fffffn) === 0x1fffffn;
  return uid === null && IS_ROOT && all ? 150 : 80;
}

for (const { who, uid } of USERS) {
  describe(`ways out, as ${who}`, () => {
    const outcomes = asUser<Outcome>(uid, RUNNER, furnish);
    for (const { name, impossible, escaped, changed, said } of outcomes) {
      const skip = impossible !== null && `even the unconfined cannot: ${impossible.slice(0, 100)}`;
      test(name, { skip }, () => {
        assert.equal(escaped, false, `it got out: ${said}`);
        assert.equal(changed, false, "it changed what is none of its business");
      });
    }
    test("enough ways were really open to the unconfined", () => {
      const open = outcomes.filter(({ impossible }) => impossible === null).length;
      assert.ok(open >= least(uid), `only ${open} of ${ATTEMPTS.length}`);
    });
  });
}
