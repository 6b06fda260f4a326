import assert from "node:assert/strict";
import { test } from "node:test";
import { RunRequest } from "../../../src/core/request.ts";
import { Registry } from "../../../src/session/registry.ts";
import type { SessionStore } from "../../../src/storage/sessions.ts";
import { sessionFields } from "../../fixtures/session-rows.ts";

/** Returns the name for this random number after `taken` attempts with a name in use. */
function nameFor(random: number, taken = 0): string {
  let attempts = 0;
  const insert = () => attempts++ >= taken;
  const registry = new Registry({} as never, { insert } as unknown as SessionStore, {} as never, () => () => {});
  const { random: original } = Math;
  Math.random = () => random / 2 ** 32;
  try {
    return registry.record(sessionFields(), undefined) ?? assert.fail("no name");
  } finally {
    Math.random = original;
  }
}

test("the low 16 bits select one of 65,536 two-word names", () => {
  const names = new Set<string>();
  for (let random = 0; random < 0x1_0000; random++) names.add(nameFor(random));
  assert.equal(names.size, 0x1_0000);
  for (const name of names) assert.match(name, /^[a-z]{3,12}-[a-z]{3,12}$/);
});

test("a name in use gets a number from the high 16 bits", () => {
  const numbered = new Set<string>();
  const plain = nameFor(0x1234);
  for (let high = 0; high < 0x1_0000; high++) {
    const name = nameFor(((high << 16) | 0x1234) >>> 0, 2);
    assert.ok(name.startsWith(`${plain}-`));
    numbered.add(name);
  }
  assert.equal(numbered.size, 9998);
  assert.ok(numbered.has(`${plain}-2`) && numbered.has(`${plain}-9999`));
});

test("every generated name is valid in a request", () => {
  for (const random of [0, 0xffff, 0xffff_ffff, 0x8000_0000]) {
    for (const taken of [0, 2]) {
      const name = nameFor(random, taken);
      assert.equal(RunRequest.parse({ command: "true", name }).name, name);
    }
  }
});

test("a session is named by its ID when all generated names are in use", () => {
  assert.equal(nameFor(1, 4), sessionFields().id);
});
