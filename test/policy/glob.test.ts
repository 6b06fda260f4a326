import assert from "node:assert/strict";
import { test } from "node:test";
import { matches, matchesPath, matchesWords, patternProblem } from "../../src/policy/glob.ts";
import { cpuMs } from "../present/cpu-time.ts";

test("stars and question marks", () => {
  for (const [pattern, text, expected] of [
    ["a*c", "abbbc", true],
    ["a*c", "abbb", false],
    ["*", "", true],
    ["?", "", false],
    ["a?c", "abc", true],
    ["**a", "bba", true],
    ["a*b*c", "axbxbxc", true],
    ["", "", true],
    ["", "a", false],
  ] as const)
    assert.equal(matches(pattern, text), expected, `${pattern} ${text}`);
});

test("paths and words", () => {
  assert.ok(matchesPath("/usr/*/git", "/usr/bin/git"));
  assert.ok(!matchesPath("/usr/*", "/usr/bin/git"));
  assert.ok(matchesPath("/opt/**", "/opt/a/b/c"));
  assert.ok(matchesWords(["run", "t*"], ["run", "test"]));
  assert.ok(!matchesWords(["run", "t*"], ["run", "test", "x"]));
  assert.ok(matchesWords(["run", "**"], ["run"]));
});

test("no pattern takes long", () => {
  assert.ok(cpuMs(() => matches(`${"*a".repeat(200)}b`, "a".repeat(20_000))) < 2000);
  assert.match(patternProblem("/^(a+)+$/") ?? "", /regular expression/);
  assert.equal(patternProblem("/usr/bin/*"), null);
});
