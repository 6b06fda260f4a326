import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJson } from "../../../src/fleet/attestation.ts";

test("canonical JSON ignores the order of keys and preserves every other difference", () => {
  assert.equal(canonicalJson({ b: [1, { d: null, c: "x" }], a: undefined }), '{"b":[1,{"c":"x","d":null}]}');
  assert.equal(canonicalJson({ b: 1, a: 2 }), canonicalJson({ a: 2, b: 1 }));
  assert.notEqual(canonicalJson(["a", "b"]), canonicalJson(["b", "a"]));
  assert.notEqual(canonicalJson({ a: "1" }), canonicalJson({ a: 1 }));
  // A key that contains JSON syntax must not be confused with two separate keys.
  assert.notEqual(canonicalJson({ 'a":1,"b': 2 }), canonicalJson({ a: 1, b: 2 }));
  assert.equal(canonicalJson([undefined]), "[null]");
  assert.equal(canonicalJson("\ud800\n"), '"\\ud800\\n"');
});

test("canonical JSON is the same after a JSON round trip", () => {
  const sent = { env: { __proto__x: "1", é: "ü" }, args: ["", " ", "\u0000"], n: 1e21, on: true };
  assert.equal(canonicalJson(JSON.parse(JSON.stringify(sent))), canonicalJson(sent));
});

test("rejects values that JSON cannot represent, and deep nesting", () => {
  assert.throws(() => canonicalJson(Number.NaN), RangeError);
  assert.throws(() => canonicalJson({ a: () => {} }), TypeError);
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  assert.throws(() => canonicalJson(deep), /nested/);
});
