import assert from "node:assert/strict";
import { test } from "node:test";
import { compileGlob, matchesGlob, matchesGlobs } from "../../../src/text/glob.ts";
import { randomText, seeded } from "../../fixtures/seeded.ts";
import { cpuMs } from "./cpu-time.ts";

test("without segments, stars and question marks match any character", () => {
  for (const [pattern, text, expected] of [
    ["a*c", "abbbc", true],
    ["a*c", "abbb", false],
    ["a*c", "a/b/c", true],
    ["aba*aba", "aba", false],
    ["*", "", true],
    ["?", "", false],
    ["?", "/", true],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["**a", "bba", true],
    ["a*b*c", "axbxbxc", true],
    ["a*b?c*d", "abbxc-d", true],
    ["a*\n?", "a\n\n", true],
    ["[ab]", "a", false],
    ["", "", true],
    ["", "a", false],
  ] as const)
    assert.equal(matchesGlob(pattern, text), expected, `${pattern} ${text}`);
});

test("with segments, `*` and `?` stay within one segment and `**` crosses", () => {
  for (const [pattern, path, expected] of [
    ["/usr/*/git", "/usr/bin/git", true],
    ["/usr/*", "/usr/bin/git", false],
    ["/usr/*", "/usr/", true],
    ["/usr/bin/g?t", "/usr/bin/git", true],
    ["/usr?bin", "/usr/bin", false],
    ["/usr/bin/*-?.?", "/usr/bin/gcc-9.1", true],
    // Trailing `**`.
    ["/opt/**", "/opt/a/b/c", true],
    ["/opt/**", "/opt/", true],
    ["/opt/**", "/opt", false],
    ["/opt/**", "/optional/x", false],
    // Mixed with `*` and `?`.
    ["/opt/*/bin/**", "/opt/a/bin/x", true],
    ["/opt/*/bin/**", "/opt/a/bin/x/y", true],
    ["/opt/*/bin/**", "/opt/a/evil/bin/x", false],
    ["/opt/*/bin/**", "/opt/bin/x", false],
    ["/opt/?/**", "/opt/a/x", true],
    ["/opt/?/**", "/opt///x", false],
    ["/opt/**/*.sh", "/opt/a/b/c.sh", true],
    ["/opt/**/bin/*", "/opt/a/bin/c/d", false],
    ["/opt/**/bin/*", "/opt/a/bin/c/bin/d", true],
    ["/**/a*c/d", "/abc/x/ab/abc/d", true],
    ["/**/a*c/d", "/x/ab/c/d", false],
    ["/**a*b*c", "/a/b/abxc", true],
    ["/**a*b*c", "/a/b/abx/c", false],
    // Leading `**`.
    ["**/x", "/x", true],
    ["**/x", "/a/b/x", true],
    ["**/x", "x", false],
    ["**/x", "/a/yx", false],
    ["**x", "/a/yx", true],
    // `**` in the middle: both slashes are needed.
    ["a/**/b", "a/x/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["a/**/b", "a//b", true],
    ["a/**/b", "a/b", false],
    ["a/**b", "a/b", true],
    ["a***b", "a/x/b", true],
  ] as const)
    assert.equal(matchesGlob(pattern, path, { segments: true }), expected, `${pattern} ${path}`);
});

test("`?` is literal where it is not a wildcard", () => {
  assert.equal(matchesGlob("A?*", "A?B", { questionMark: false }), true);
  assert.equal(matchesGlob("A?*", "ABC", { questionMark: false }), false);
  assert.equal(matchesGlob("*A?", "AAB", { questionMark: false }), false);
  assert.equal(matchesGlob("*A?*B", "xA?yB", { questionMark: false }), true);
  assert.equal(matchesGlob("A?", "AB", { questionMark: false }), false);
});

test("agrees with a regular expression on random patterns", () => {
  const next = seeded(7);
  let matched = 0;
  for (let round = 0; round < 20_000; round++) {
    const pattern = randomText(next, ["a", "b", "/", "*", "**", "?"], next(8));
    const text = randomText(next, ["a", "a", "b", "/"], next(9));
    for (const segments of [false, true]) {
      const source = pattern.replaceAll(/\*+|\?/g, (wildcard) => {
        const one = segments && wildcard.length === 1 ? "[^/]" : "[^]";
        return wildcard === "?" ? one : `${one}*`;
      });
      const expected = new RegExp(`^${source}$`).test(text);
      assert.equal(compileGlob(pattern, { segments })(text), expected, `${pattern} ${text} segments: ${segments}`);
      if (expected) matched++;
    }
  }
  assert.ok(matched > 1000, `${matched} matches`);
});

test("matches one pattern per text, and the rest with a final `**`", () => {
  assert.ok(matchesGlobs(["run", "t*"], ["run", "test"], matchesGlob));
  assert.ok(!matchesGlobs(["run", "t*"], ["run", "test", "x"], matchesGlob));
  assert.ok(!matchesGlobs(["run", "t*"], ["run"], matchesGlob));
  assert.ok(matchesGlobs(["run", "**"], ["run"], matchesGlob));
  assert.ok(matchesGlobs(["run", "**"], ["run", "a", "b/c"], matchesGlob));
  assert.ok(!matchesGlobs(["run", "**"], ["stop", "a"], matchesGlob));
});

test("runs in linear time on malicious patterns", () => {
  const patterns = ["*a", "**a", "a*", "?*a", "**a*", "*/a", "**/a*"].map((part) => `${part.repeat(150)}b*b`);
  const run = (text: string) =>
    cpuMs(() => {
      for (const pattern of patterns)
        for (const segments of [false, true])
          assert.equal(matchesGlob(pattern, text, { segments }), false, `${pattern} ${segments}`);
    });
  for (const part of ["a", "a/"]) {
    const short = run(`${part.repeat(2500 / part.length)}b`);
    const long = run(`${part.repeat(10_000 / part.length)}b`);
    assert.ok(long < 4 * 3 * short + 200, `${short} ms for 2,500 characters, ${long} ms for 10,000`);
  }
});
