import assert from "node:assert/strict";
import { test } from "node:test";
import { JsonSyntaxError, readJson } from "../../../src/config/json.ts";
import { pick, seeded } from "./sample.ts";

test("reads what JSON.parse reads", () => {
  for (const text of [
    "{}",
    "[]",
    " [1, -2.5e3, 0] ",
    '{"a":{"b":[null,true,false,"x\\u00e9\\n"]}}',
    '"\\ud83d\\ude00"',
    "0",
    "\ufeff{}",
  ]) {
    assert.deepEqual(readJson(text).value, JSON.parse(text.replace("\ufeff", "")), text);
  }
});

test("agrees with JSON.parse on spoiled texts, except for the strictness it adds", () => {
  const random = seeded(5);
  const good = '{"security": "full", "limits": {"sessions": 3, "x": [1, 2.5, "a\\"b"]}, "n": null}';
  for (let round = 0; round < 3000; round++) {
    const at = Math.floor(random() * good.length);
    const text =
      good.slice(0, at) +
      pick(random, ["", ",", '"', "}", "]", "0", "\\", "\n", "a", "/", "-"]) +
      good.slice(at + Math.floor(random() * 3));
    let expected: unknown;
    try {
      expected = JSON.parse(text);
    } catch {
      assert.throws(() => readJson(text), JsonSyntaxError, text);
      continue;
    }
    assert.deepEqual(readJson(text).value, expected, text);
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
  ['{"a": "x\ny"}', /does not end on its line/, 1, 7],
  ['{"a": "\\x"}', /wrong escape/, 1, 7],
  ['{} "x"', /more text after the end/, 1, 4],
  ['{"a": 1, "a": 2}', /the key `a` is there twice/, 1, 10],
  ['{"__proto__": {}}', /`__proto__` is not a key/, 1, 2],
  ["{ /* why\n}", /a comment that does not end/, 1, 3],
  ['{ // why\r"a": 1\n}', /a carriage return within a comment/, 1, 9],
  ['{"a": 1 / 2}', /expected `,` but found `\/`/, 1, 9],
  ["'a'", /expected a value but found `'`/, 1, 1],
  [`${"[".repeat(40)}`, /nested too deeply/, 1, 34],
  [`${"[".repeat(250_000)}`, /nested too deeply/, 1, 34],
  [`${'{"a":'.repeat(50_000)}`, /nested too deeply/, 1, 166],
  [`${"[".repeat(33)}1`, /nested too deeply/, 1, 34],
  ['{"a": 1.}', /a number without digits/, 1, 7],
  ['{"a": tru}', /expected a value but found `t`/, 1, 7],
  ["[", /expected a value but found the end of the file/, 1, 2],
  ['{"a": 1,', /expected a key in double quotes but found the end of the file/, 1, 9],
];

test("comments may stand wherever blanks may", () => {
  const text = '// first\n{ /* a */ "a" /**/: // b\n [1, /* , */ 2 // c\n], "b": "// no comment" }\n// last';
  assert.deepEqual(readJson(text).value, { a: [1, 2], b: "// no comment" });
  assert.deepEqual(readJson(text).positionOf(["b"]), { line: 4, column: 4 });
  assert.deepEqual(readJson(text.replaceAll("\n", "\r\n")).value, { a: [1, 2], b: "// no comment" });
});

for (const [text, message, line, column] of WRONG) {
  test(`says what is wrong and where: ${JSON.stringify(text.slice(0, 30))}`, () => {
    assert.throws(
      () => readJson(text),
      (error) => {
        assert.ok(error instanceof JsonSyntaxError);
        assert.match(error.message, message);
        assert.deepEqual(error.position, { line, column });
        return true;
      },
    );
  });
}

test("knows where everything stands", () => {
  const { positionOf } = readJson('{\n  "a": {\n    "b": [1,\n      {"c": 2}]\n  }\n}');
  assert.deepEqual(positionOf(["a", "b"]), { line: 3, column: 5 });
  assert.deepEqual(positionOf(["a", "b", 1]), { line: 4, column: 7 });
  assert.deepEqual(positionOf(["a", "b", 1, "c"]), { line: 4, column: 8 });
  assert.deepEqual(positionOf(["a", "b", 1, "missing"]), { line: 4, column: 7 });
  assert.deepEqual(positionOf([]), { line: 1, column: 1 });
});
