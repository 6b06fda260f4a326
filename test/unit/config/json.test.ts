import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { SallyportError } from "../../../src/core/error.ts";
import { configFixture } from "../../fixtures/configuration.ts";
import { pick, seeded } from "./sample.ts";

/** Returns a function that loads a text as the operator file and returns the settings or the error. */
function reader(t: TestContext) {
  const { operatorSays, load } = configFixture(t);
  return (text: string) => {
    operatorSays(text);
    try {
      return { settings: load().settings, error: null };
    } catch (error) {
      assert.ok(error instanceof SallyportError, String(error));
      return { settings: null, error };
    }
  };
}

test("accepts and rejects the same text as JSON.parse", (t) => {
  const read = reader(t);
  for (const text of [
    "{}",
    "[]",
    " [1, -2.5e3, 0] ",
    '{"a":{"b":[null,true,false,"x\\u00e9\\n"]}}',
    '"\\ud83d\\ude00"',
    "0",
    "\ufeff{}",
  ]) {
    assert.doesNotMatch(read(text).error?.message ?? "", /not valid JSON/, text);
  }
  const random = seeded(5);
  const good = '{"security": "full", "limits": {"sessions": 3, "x": [1, 2.5, "a\\"b"]}, "n": null}';
  for (let round = 0; round < 1500; round++) {
    const at = Math.floor(random() * good.length);
    const text =
      good.slice(0, at) +
      pick(random, ["", ",", '"', "}", "]", "0", "\\", "\n", "a", "/", "-"]) +
      good.slice(at + Math.floor(random() * 3));
    const { error } = read(text);
    let isJson = true;
    try {
      JSON.parse(text);
    } catch {
      isJson = false;
    }
    assert.equal(/not valid JSON/.test(error?.message ?? ""), !isJson, text);
  }
});

const WRONG: [text: string, message: RegExp, line: number, column: number][] = [
  ["", /expected a value but found the end/, 1, 1],
  ['{\n  "a": 1,\n}', /expected a key in double quotes but found `}`/, 3, 1],
  ['{\n  "a": 1\n  "b": 2}', /expected `,` but found `"`/, 3, 3],
  ['{"a" 1}', /expected `:` but found `1`/, 1, 6],
  ["{a: 1}", /expected a key in double quotes but found `a`/, 1, 2],
  ["[1, 2", /expected `,` but found the end of the file/, 1, 6],
  ['{"a": 01}', /expected `,` but found `1`/, 1, 8],
  ['{"a": "x\ny"}', /unterminated string/, 1, 7],
  ['{"a": "\\x"}', /invalid escape/, 1, 7],
  ['{} "x"', /unexpected text after the end/, 1, 4],
  ['{"a": 1, "a": 2}', /duplicate key `a`/, 1, 10],
  ['{"__proto__": {}}', /`__proto__` is not allowed as a key/, 1, 2],
  ["{ /* why\n}", /unterminated comment/, 1, 3],
  ['{ // why\r"a": 1\n}', /a carriage return inside a comment/, 1, 9],
  ['{"a": 1 / 2}', /expected `,` but found `\/`/, 1, 9],
  ["'a'", /expected a value but found `'`/, 1, 1],
  [`${"[".repeat(40)}`, /nested more than 32 levels/, 1, 34],
  [`${"[".repeat(250_000)}`, /nested more than 32 levels/, 1, 34],
  [`${'{"a":'.repeat(50_000)}`, /nested more than 32 levels/, 1, 166],
  [`${"[".repeat(33)}1`, /nested more than 32 levels/, 1, 34],
  ['{"a": 1.}', /a number without digits/, 1, 7],
  ['{"a": tru}', /expected a value but found `t`/, 1, 7],
  ["[", /expected a value but found the end of the file/, 1, 2],
  ['{"a": 1,', /expected a key in double quotes but found the end of the file/, 1, 9],
];

test("accepts comments wherever whitespace is allowed", (t) => {
  const read = reader(t);
  const text =
    '// first\n{ /* a */ "denied" /**/: // b\n ["/a", /* , */ "// no comment" // c\n], "require": true }\n// last';
  for (const one of [text, text.replaceAll("\n", "\r\n")]) {
    assert.deepEqual(read(one).settings?.denied, ["/a", "// no comment"]);
    assert.equal(read(one).settings?.require, true);
  }
  const { error } = read(text.replace("true", "1"));
  assert.deepEqual([error?.details.line, error?.details.column], [4, 4]);
});

for (const [text, message, line, column] of WRONG) {
  test(`reports the problem and its position: ${JSON.stringify(text.slice(0, 30))}`, (t) => {
    const { error } = reader(t)(text);
    assert.match(error?.message ?? "", message);
    assert.deepEqual([error?.details.line, error?.details.column], [line, column]);
  });
}

test("an error message gives the position of the invalid value", (t) => {
  const read = reader(t);
  for (const [text, line, column] of [
    ['{\n  "limits": {\n    "sessions": "x"\n  }\n}', 3, 5],
    ['{\n  "allowlist": [{"pattern": "a"},\n      7]\n}', 3, 7],
    ['{\n  "allowlist": [{"pattern": "a"},\n      {"pattern": 2}]\n}', 3, 8],
    ['{\n  "allowlist": [{"pattern": "a"},\n      {}]\n}', 3, 7],
    ["[]", 1, 1],
  ] as const) {
    const { error } = read(text);
    assert.deepEqual([error?.details.line, error?.details.column], [line, column], text);
  }
});
