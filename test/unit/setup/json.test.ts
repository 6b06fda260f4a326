import assert from "node:assert/strict";
import test from "node:test";
import { type Json, openDocument } from "../../../src/setup/edit/document.ts";
import { FormatError } from "../../../src/setup/edit/format-error.ts";

function edited(text: string, path: string[], value: Json): string {
  const document = openDocument("json", text);
  document.set(path, value);
  assert.deepEqual(document.get(path), value);
  return document.text;
}

function appended(text: string, path: string[], value: string): string {
  const document = openDocument("json", text);
  document.append(path, value);
  return document.text;
}

test("adds an entry behind the last one and keeps comments with their lines", () => {
  const cases: [before: string, after: string][] = [
    ["", '{\n  "m": {\n    "s": 1\n  }\n}\n'],
    ["// empty\n", ""],
    ["{}", '{\n  "m": {\n    "s": 1\n  }\n}'],
    ["{ // note\n}\n", '{ // note\n  "m": {\n    "s": 1\n  }\n}\n'],
    ['{"a":1}', '{"a":1, "m": {\n  "s": 1\n}}'],
    ['{\n\t"m": {\n\t\t"x": {} // mine\n\t}\n}\n', '{\n\t"m": {\n\t\t"x": {}, // mine\n\t\t"s": 1\n\t}\n}\n'],
    ['{\n  "m": {\n    "x": 1, // last\n  },\n}\n', '{\n  "m": {\n    "x": 1, // last\n    "s": 1,\n  },\n}\n'],
    [
      '{\r\n    "m": {\r\n        "x": 1\r\n    }\r\n}',
      '{\r\n    "m": {\r\n        "x": 1,\r\n        "s": 1\r\n    }\r\n}',
    ],
    ['\ufeff{\n  "m": { "x": 1 }\n}', '\ufeff{\n  "m": { "x": 1, "s": 1 }\n}'],
    ['{\n  "m": {\n    "x": 1 } /* end */ }', '{\n  "m": {\n    "x": 1,\n    "s": 1 } /* end */ }'],
  ];
  for (const [before, after] of cases) if (after !== "") assert.equal(edited(before, ["m", "s"], 1), after);
  assert.deepEqual(openDocument("json", edited("// empty\n", ["m", "s"], 1)).get([]), { m: { s: 1 } });
});

test("replaces a value without touching its neighbors", () => {
  const before = '{\n  // servers\n  "m": {\n    "s": { "old": true }, // ours\n    "t": 2\n  }\n}\n';
  const after = '{\n  // servers\n  "m": {\n    "s": {\n      "a": [1]\n    }, // ours\n    "t": 2\n  }\n}\n';
  assert.equal(edited(before, ["m", "s"], { a: [1] }), after);
});

test("adds to lists in their own style, and removes from them", () => {
  const cases: [before: string, after: string][] = [
    ['{ "deny": ["A"] }', '{ "deny": ["A", "B"] }'],
    ['{ "deny": [] }', '{ "deny": ["B"] }'],
    ['{\n  "deny": [\n    "A", // a\n  ]\n}', '{\n  "deny": [\n    "A", // a\n    "B",\n  ]\n}'],
    ["{}", '{\n  "deny": ["B"]\n}'],
  ];
  for (const [before, after] of cases) {
    const document = openDocument("json", before);
    document.append(["deny"], "B");
    assert.equal(document.text, after);
    document.exclude(["deny"], "B");
    assert.deepEqual(document.get(["deny"]), openDocument("json", before).get(["deny"]) ?? []);
  }
});

test("removes an entry with its line and keeps the comments of others", () => {
  const cases: [before: string, after: string][] = [
    ['{\n  "a": 1, // one\n  "s": 2\n}\n', '{\n  "a": 1 // one\n}\n'],
    ['{\n  "s": 2,\n  "a": 1\n}\n', '{\n  "a": 1\n}\n'],
    ['{"a":1,"s":2}', '{"a":1}'],
    ['{"s":2, "a":1}', '{"a":1}'],
    ['{\n  "s": 2\n}', "{}"],
    ['{\n  "a": 1,\n  "s": 2,\n}', '{\n  "a": 1,\n}'],
  ];
  for (const [before, after] of cases) {
    const document = openDocument("json", before);
    document.remove(["s"]);
    assert.equal(document.text, after);
  }
});

test("reports the line of an error, of a duplicate key and of a value of another type", () => {
  const broken: [text: string, line: number][] = [
    ['{\n  "a": 1\n  "b": 2\n}', 3],
    ['{\n  "a": }', 2],
    ["[".repeat(100_000), 1],
    ['{ "a": 1 }\n{}', 2],
  ];
  for (const [text, line] of broken) {
    assert.throws(
      () => openDocument("json", text),
      (error) => error instanceof FormatError && error.line === line,
    );
  }
  const twice = openDocument("json", '{\n  "m": {},\n  "m": {}\n}');
  assert.throws(() => twice.set(["m", "s"], 1), { message: "duplicate key `m`", line: 3 });
  assert.throws(() => appended('{\n\n"deny": "x" }', ["deny"], "B"), { message: "`deny` must be a list", line: 3 });
  assert.throws(() => edited("[]", ["m"], 1), { message: "the file must be an object" });
});
