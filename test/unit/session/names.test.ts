import assert from "node:assert/strict";
import { test } from "node:test";
import { RunRequest } from "../../../src/core/request.ts";
import { nameFor, numberedNameFor } from "../../../src/session/names.ts";

test("the low 16 bits make 65,536 different names of two plain words", () => {
  const names = new Set<string>();
  for (let random = 0; random < 0x1_0000; random++) names.add(nameFor(random));
  assert.equal(names.size, 0x1_0000);
  for (const name of names) assert.match(name, /^[a-z]{3,12}-[a-z]{3,12}$/);
});

test("a number tells namesakes apart, and comes from the high 16 bits", () => {
  const numbered = new Set<string>();
  for (let high = 0; high < 0x1_0000; high++) {
    const random = ((high << 16) | 0x1234) >>> 0;
    const name = numberedNameFor(random);
    assert.ok(name.startsWith(`${nameFor(random)}-`));
    numbered.add(name);
  }
  assert.equal(numbered.size, 9998);
  assert.ok(numbered.has(`${nameFor(0x1234)}-2`) && numbered.has(`${nameFor(0x1234)}-9999`));
});

test("every name may be asked for by name", () => {
  for (const random of [0, 0xffff, 0xffff_ffff, 0x8000_0000]) {
    for (const name of [nameFor(random), numberedNameFor(random)]) {
      assert.equal(RunRequest.parse({ command: "true", name }).name, name);
    }
  }
});
