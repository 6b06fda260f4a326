import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJson } from "../../../src/fleet/attestation.ts";

test("the order in which names were set does not matter, everything else does", () => {
  assert.equal(canonicalJson({ b: [1, { d: null, c: "x" }], a: undefined }), '{"b":[1,{"c":"x","d":null}]}');
  assert.equal(canonicalJson({ b: 1, a: 2 }), canonicalJson({ a: 2, b: 1 }));
  assert.notEqual(canonicalJson(["a", "b"]), canonicalJson(["b", "a"]));
  assert.notEqual(canonicalJson({ a: "1" }), canonicalJson({ a: 1 }));
  // A name that ends where the next begins must not be taken for another pair of names.
  assert.notEqual(canonicalJson({ 'a":1,"b': 2 }), canonicalJson({ a: 1, b: 2 }));
  assert.equal(canonicalJson([undefined]), "[null]");
  assert.equal(canonicalJson("\ud800\n"), '"\\ud800\\n"');
});

test("it survives the way over the wire", () => {
  const sent = { env: { __proto__x: "1", é: "ü" }, args: ["", " ", "\u0000"], n: 1e21, on: true };
  assert.equal(canonicalJson(JSON.parse(JSON.stringify(sent))), canonicalJson(sent));
});

test("what is not data is refused", () => {
  assert.throws(() => canonicalJson(Number.NaN), RangeError);
  assert.throws(() => canonicalJson({ a: () => {} }), TypeError);
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  assert.throws(() => canonicalJson(deep), /nested/);
});
