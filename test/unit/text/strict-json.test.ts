import assert from "node:assert/strict";
import { test } from "node:test";
import { readBody } from "../../../src/mcp/http/body.ts";

async function parsed(text: string | Uint8Array): Promise<unknown> {
  const request = Object.assign([Buffer.from(text)].values(), { headers: {} });
  const body = await readBody(request as unknown as Parameters<typeof readBody>[0], 1 << 24);
  return "value" in body ? body.value : body.fault;
}

test("accepts ordinary JSON", async () => {
  const value = { a: [1, { a: 2, b: { a: 3 } }], "": null, 'q"\\': '{"a":1,"a":2}', b: "x: y", c: ["a", "a"] };
  assert.deepEqual(await parsed(JSON.stringify(value)), value);
  assert.deepEqual(await parsed(JSON.stringify(value, null, 2)), value);
  assert.deepEqual(await parsed('[{"a":1},{"a":2}]'), [{ a: 1 }, { a: 2 }]);
});

test("rejects the same key twice in an object, however it is written", async () => {
  for (const text of ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"x":{"a":1,"b":[],"a" :2}}', '[[{"a":1,"a":1}]]']) {
    assert.equal(await parsed(text), "not json", text);
  }
});

test("rejects the key __proto__", async () => {
  for (const text of ['{"__proto__":{}}', '{"a":[{"\\u005f_proto__":1}]}']) {
    assert.equal(await parsed(text), "not json", text);
  }
});

test("rejects invalid JSON and invalid UTF-8", async () => {
  for (const text of ["", "{", "{a:1}", "[1,]", '{"a":1} x']) assert.equal(await parsed(text), "not json", text);
  assert.equal(await parsed(Uint8Array.of(0x22, 0xff, 0x22)), "not json");
});
