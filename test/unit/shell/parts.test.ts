// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell has the same placeholders, and they are meant as text
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasOption, optionValue, readOptions } from "../../../src/shell/commands/options.ts";
import { hasConfusables, hasLookalikes, invisibleCharacters } from "../../../src/shell/confusable.ts";
import { expandBraces } from "../../../src/shell/expand/brace.ts";
import { literal } from "../../../src/shell/expand/field.ts";
import { isInside, normalise } from "../../../src/shell/path.ts";
import { quoteArgv, splitWords } from "../../../src/shell/quote.ts";

test("paths are normalised as the kernel reads them", () => {
  for (const [path, expected] of [
    ["/", "/"],
    ["//", "/"],
    ["/.", "/"],
    ["/..", "/"],
    ["/a/../..", "/"],
    ["/a//b/./c/", "/a/b/c"],
    ["a", "/w/a"],
    [".", "/w"],
    ["..", "/"],
    ["../../x", "/x"],
    ["/a/...", "/a/..."],
    ["", null],
  ] as const)
    assert.equal(normalise(path, "/w"), expected, path);
  assert.equal(normalise("a", null), null);
  assert.ok(isInside("/a/b", "/a") && isInside("/a", "/a") && isInside("/a", "/") && !isInside("/ab", "/a"));
});

test("options as getopt_long reads them", () => {
  const spec = { short: "abc:d::", long: "force target-directory= target-mode= verbose" };
  const read = (text: string, more = {}) => {
    const { list, operands } = readOptions(
      text.split(" ").map((word) => literal(word, word, { start: 0, end: 0 })),
      { ...spec, ...more },
    );
    return [list.map(({ name, value }) => [name, value?.value ?? null]), operands.map(({ value }) => value)];
  };
  assert.deepEqual(read("p -ab x"), [
    [
      ["a", null],
      ["b", null],
    ],
    ["x"],
  ]);
  assert.deepEqual(read("p -cv x -bcv"), [
    [
      ["c", "v"],
      ["b", null],
      ["c", "v"],
    ],
    ["x"],
  ]);
  assert.deepEqual(read("p -c v -- -a"), [[["c", "v"]], ["-a"]]);
  assert.deepEqual(read("p -d x -dy"), [
    [
      ["d", null],
      ["d", "y"],
    ],
    ["x"],
  ]);
  assert.deepEqual(read("p --for --target-d=x --verb y"), [
    [
      ["force", null],
      ["target-directory", "x"],
      ["verbose", null],
    ],
    ["y"],
  ]);
  assert.deepEqual(read("p -a x -b", { stop: true }), [[["a", null]], ["x", "-b"]]);
  const options = readOptions(
    [literal("p", "p", { start: 0, end: 1 }), literal("-cx", "-cx", { start: 2, end: 5 })],
    spec,
  );
  assert.ok(hasOption(options, "c") && optionValue(options, "c")?.value === "x");
});

test("brace expansion on raw words", () => {
  assert.deepEqual(expandBraces("a{b,c{d,e}}f"), ["abf", "acdf", "acef"]);
  assert.deepEqual(expandBraces("{a,'b,c'}"), ["a", "'b,c'"]);
  assert.deepEqual(expandBraces("${a,b}"), ["${a,b}"]);
  assert.deepEqual(expandBraces("{$(x,y),z}"), ["$(x,y)", "z"]);
  assert.equal(expandBraces("{1..1000000}"), null);
  assert.equal(expandBraces("{a,b}".repeat(20)), null);
});

test("characters that hide something are found, ordinary ones are not", () => {
  for (const text of [
    "a\u001bb",
    "a\rb",
    "a\0b",
    "a\u200bb",
    "a\u202eb",
    "a\u2066b",
    "a\u00a0b",
    "a\u3000b",
    "\ufeffa",
    "a\u00adb",
    "a\u{e0041}b",
    "a\ud800b",
    "a\u2028b",
    "a\ufe0fb",
  ]) {
    assert.equal(invisibleCharacters(text).length, 1, JSON.stringify(text));
  }
  for (const text of ["a\tb\nc", "café 你好 привет ✨ ❤️ 👩‍👩‍👧 🏳️‍🌈", "naïve “quotes” – dash"])
    assert.deepEqual(invisibleCharacters(text), [], text);
  assert.ok(hasLookalikes("ѕudo") && hasLookalikes("ｒｍ") && !hasLookalikes("rm"));
  assert.ok(
    hasConfusables("；", "；") &&
      hasConfusables("–rf", "–rf") &&
      hasConfusables("https://exаmple.com", "x") &&
      !hasConfusables("修复：错误", "'修复：错误'"),
  );
});

test("quoting and splitting are each other's reverse", () => {
  for (const argv of [
    ["a", "b c", "", "it's", "$(x)", "a\nb", "*", "A=1", '"', "\\"],
    ["é", "--x=y"],
  ])
    assert.deepEqual(splitWords(quoteArgv(argv)), argv);
  assert.deepEqual(splitWords(`a 'b c' "d \\" e" f\\ g`), ["a", "b c", 'd " e', "f g"]);
  assert.equal(splitWords("'a"), null);
});
