import assert from "node:assert/strict";
import { test } from "node:test";
import { wouldCover } from "../../../src/approval/grants.ts";
import { cpuMs } from "../text/cpu-time.ts";

/** Reports whether a grant with these patterns covers the arguments. */
function matchesArguments(patterns: string[], args: string[]): boolean {
  const target = { executable: "/usr/bin/tool", cwd: "/", piped: false };
  return wouldCover({ ...target, args: [] }, { args: patterns }, { ...target, args });
}

const ONE: [pattern: string, value: string, matches: boolean][] = [
  ["status", "status", true],
  ["status", "Status", false],
  ["*", "origin", true],
  ["*", "", true],
  ["*", "a/b", false],
  ["**", "a/b", true],
  ["src/*", "src/a.ts", true],
  ["src/*", "src/a/b.ts", false],
  ["src/**", "src/a/b.ts", true],
  ["src/**", "src/../../etc/passwd", false],
  ["src/**", "src/..", false],
  ["**", "..", false],
  ["**", "../x", false],
  ["src/*", "src/..x", true],
  ["*", "--upload-pack=sh", false],
  ["**", "-rf", false],
  ["--depth=*", "--depth=1", true],
  ["--file=*", "--file=..", false],
  ["-*", "-rf", true],
  ["v?", "v1", true],
  ["v?", "v12", false],
  ["v?", "v/", false],
  ["a*b*c", "aXbYc", true],
  ["a*b*c", "aXbY", false],
  ["*.ts", "x.ts", true],
  ["*.ts", ".ts", true],
  ["**/x", "a/b/x", true],
  ["*/**/x", "a/b/c/x", true],
  ["*/**", "x/y/z", true],
  ["a", "a\n", false],
  ["feature-*", "feature-\u{1f600}", true],
  ["[ab]", "a", false],
  ["[ab]", "[ab]", true],
];

for (const [pattern, value, matches] of ONE) {
  test(`${pattern} ${matches ? "matches" : "does not match"} ${JSON.stringify(value)}`, () => {
    assert.equal(matchesArguments([pattern, "end"], [value, "end"]), matches);
  });
}

const MANY: [patterns: string, args: string, matches: boolean][] = [
  ["fetch origin", "fetch origin", true],
  ["fetch origin", "fetch origin main", false],
  ["fetch origin *", "fetch origin main", true],
  ["fetch origin *", "fetch origin", false],
  ["fetch origin *", "fetch origin --upload-pack=x", false],
  ["fetch **", "fetch", true],
  ["fetch **", "fetch origin main v1", true],
  ["fetch **", "fetch origin --upload-pack=x", false],
  ["** origin", "fetch origin", true],
  ["** origin", "fetch x origin", false],
  ["", "", true],
  ["", "fetch", false],
];

for (const [patterns, args, matches] of MANY) {
  test(`[${patterns}] ${matches ? "covers" : "does not cover"} [${args}]`, () => {
    const words = (text: string) => text.split(" ").filter(Boolean);
    assert.equal(matchesArguments(words(patterns), words(args)), matches);
  });
}

test("matches hostile patterns in bounded time", () => {
  const value = "a".repeat(4000);
  const matches = (pattern: string, text: string) => matchesArguments([pattern, "end"], [text, "end"]);
  assert.ok(
    cpuMs(() => {
      assert.equal(matches(`${"*a".repeat(200)}b`, value), false);
      assert.equal(matches(`${"**a".repeat(200)}b`, value), false);
    }) < 5000,
  );
  assert.equal(matches("*", "a".repeat(5000)), false, "too long for a wildcard");
});
