import assert from "node:assert/strict";
import { test } from "node:test";
import type { Policy } from "../../../src/core/policy.ts";
import { loadPolicy, tighteningOnly } from "../../../src/policy/load.ts";
import { checkCommand } from "./world.ts";

const good: Policy = {
  security: "allowlist",
  allowlist: [{ pattern: "git", args: "log **", note: "reading history", expires: "2999-01-01" }],
  rules: [
    {
      id: "no-push",
      prefix: ["git", ["push", "fetch"]],
      decision: "deny",
      match: ["git push origin", "cd x && git fetch"],
      not_match: ["git log", "echo git push"],
    },
    {
      id: "tests",
      pattern: "npm run test*",
      decision: "allow",
      match: ["npm run test:unit"],
      not_match: ["npm run build", "npm run test x"],
    },
  ],
  permits: ["mount"],
};

test("returns a valid policy unchanged", () => assert.equal(loadPolicy(good), good));

const bad: [string, Policy, RegExp][] = [
  [
    "an unknown security mode",
    { security: "none" as never },
    /`security` must be one of deny, allowlist, full; received `none`/,
  ],
  ["an unknown mode of an agent", { agents: { a: { ask: "maybe" as never } } }, /`agents\.a\.ask`/],
  [
    "a match example that does not match",
    { rules: [{ id: "r", prefix: ["git", "push"], decision: "deny", match: ["git pull"] }] },
    /rules\[0\]` \(r\): the example `git pull` in `match` does not match/,
  ],
  [
    "a not_match example that matches",
    { rules: [{ prefix: ["git"], decision: "deny", not_match: ["sudo git pull"] }] },
    /the example `sudo git pull` in `not_match` matches/,
  ],
  [
    "a rule with prefix and pattern",
    { rules: [{ prefix: ["a"], pattern: "a", decision: "deny" }] },
    /either `prefix` or `pattern`/,
  ],
  ["a rule without prefix and pattern", { rules: [{ decision: "deny" }] }, /either `prefix` or `pattern`/],
  [
    "an unknown decision",
    { rules: [{ prefix: ["a"], decision: "block" as never }] },
    /`decision` must be one of allow, ask, deny/,
  ],
  [
    "a regular expression as pattern",
    { rules: [{ pattern: "/(a+)+$/", decision: "deny" }] },
    /looks like a regular expression/,
  ],
  ["a pattern that matches every program", { allowlist: [{ pattern: "**" }] }, /allows every program/],
  ["an empty pattern", { allowlist: [{ pattern: " " }] }, /is empty/],
  [
    "an expiry that is not a time",
    { allowlist: [{ pattern: "git", expires: "soon" }] },
    /`expires` must be a time in ISO 8601 format; received `soon`/,
  ],
  ["a relative working directory", { allowlist: [{ pattern: "git", cwd: "src" }] }, /`cwd` must be an absolute path/],
  ["a permit for an unknown rule", { permits: ["sudo"] }, /unknown rule `sudo`/],
  ["a permit for a block", { permits: ["delete-vital"] }, /cannot be overridden/],
];

for (const [name, policy, message] of bad) {
  test(`rejects ${name}`, () => {
    assert.throws(() => loadPolicy(policy, "sallyport.json"), {
      name: "SallyportError",
      type: "InvalidConfiguration",
      message,
    });
    assert.throws(() => loadPolicy(policy, "sallyport.json"), /^SallyportError: sallyport\.json: /);
  });
}

test("applies the rules of a policy to commands", () => {
  const verdict = (command: string, policy = good) => checkCommand(command, { policy }).verdict;
  assert.equal(verdict("git push"), "deny");
  assert.equal(verdict("/usr/bin/git push"), "deny");
  assert.equal(verdict("bash -c 'git push'"), "deny");
  assert.equal(verdict("git $X"), "deny", "an unknown argument may be the forbidden one");
  assert.equal(verdict("npm run test:unit"), "allow");
  assert.equal(verdict("npm run test:unit > f"), "ask");
  assert.equal(verdict("./npm run test"), "ask");
  assert.equal(verdict("npm run $X"), "ask");
  assert.equal(verdict("make", { rules: [{ prefix: ["make"], decision: "ask" }] }), "ask");
});

test("tighteningOnly keeps only the restrictions of a policy", () => {
  const taken = tighteningOnly(good);
  assert.deepEqual([taken.allowlist, taken.permits, taken.rules?.map((rule) => rule.id)], [[], [], ["no-push"]]);
  assert.equal(taken.security, "allowlist");
});
