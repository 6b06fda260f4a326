import assert from "node:assert/strict";
import { chmodSync, copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { asUser, IS_ROOT, USERS } from "../../fixtures/as-user.ts";
import { compile } from "../../fixtures/compile.ts";
import { type Limits, limitedKeeper } from "../../fixtures/limited-keeper.ts";
import { ATTEMPTS } from "./attempts.ts";
import type { Outcome } from "./runner.ts";

/**
 * Runs every attempt with and without a sandbox. An attempt proves nothing if it fails without a sandbox, or if the
 * machine lacks a feature that docs/sandbox.md names as necessary.
 */
const RUNNER = fileURLToPath(new URL("runner.ts", import.meta.url));

function installTools(folder: string): string[] {
  const tool = join(folder, "tool");
  const suid = join(folder, "suid");
  for (const copy of [tool, suid]) copyFileSync(compile("escape"), copy);
  chmodSync(tool, 0o755);
  chmodSync(suid, IS_ROOT ? 0o4755 : 0o755);
  return [tool, suid];
}

/** Returns the minimum number of attempts that prove something: most for root with all capabilities. */
function least(uid: number | null): number {
  const held = /CapEff:\s+([0-9a-f]+)/.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? "0";
  const all = (BigInt(`0x${held}`) & 0x1fffffn) === 0x1fffffn;
  return uid === null && IS_ROOT && all ? 150 : 80;
}

/** Machines that lack features. The attempts that the level of the sandbox promises to prevent must fail there too. */
const LIMITED: [name: string, limits: Limits][] = [
  ["in a container with Linux 6.1", { landlock: 2, namespaces: false, broker: "pids" }],
  ["without Landlock", { landlock: 0 }],
  ["where nothing confines commands", { landlock: 0, namespaces: false }],
];

function judge(title: string, uid: number | null, env: Record<string, string>): void {
  describe(`sandbox escape attempts as ${title}`, () => {
    const outcomes = asUser<Outcome>(uid, RUNNER, installTools, env);
    for (const { name, impossible, notPromised, escaped, changed, said } of outcomes) {
      const open = notPromised.length > 0 && `not prevented without ${notPromised.join(" and ")}`;
      const skip = impossible === null ? open : `fails without a sandbox too: ${impossible.slice(0, 100)}`;
      test(`the sandbox prevents an attempt to ${name}`, { skip }, () => {
        assert.equal(escaped, false, `the attempt succeeded: ${said}`);
        assert.equal(changed, false, "the attempt changed files outside the workspace");
      });
    }
    test("enough attempts prove something", () => {
      const proven = outcomes.filter(({ impossible, notPromised }) => impossible === null && notPromised.length === 0);
      assert.ok(proven.length >= least(uid), `only ${proven.length} of ${ATTEMPTS.length} attempts prove something`);
    });
  });
}

for (const { who, uid } of USERS) judge(who, uid, {});
const { who, uid } = USERS.at(-1) as (typeof USERS)[number];
for (const [name, limits] of LIMITED) judge(`${who} ${name}`, uid, { SALLYPORT_KEEPER: limitedKeeper(limits) });
