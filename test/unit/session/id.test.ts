import assert from "node:assert/strict";
import { test } from "node:test";
import { isId, newId } from "../../../src/core/id.ts";

test("IDs are UUIDv7 and contain their creation time", () => {
  const before = Date.now();
  const id = newId();
  assert.ok(isId(id), id);
  const ms = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
  assert.ok(ms >= before - 1000 && ms <= Date.now() + 1000, `${ms}`);
});

test("100,000 IDs of one process are unique and ordered", () => {
  let last = "";
  for (let made = 0; made < 100_000; made++) {
    const id = newId();
    assert.ok(isId(id) && id > last, `${id} after ${last}`);
    last = id;
  }
});

test("IDs stay in order when the clock is set back", () => {
  const ahead = newId(Date.now() + 60_000);
  const back = newId(Date.now());
  assert.ok(back > ahead);
});

test("isId accepts only complete lowercase IDs", () => {
  const id = newId();
  const others = [
    "",
    id.slice(0, -1),
    `${id}0`,
    id.toUpperCase(),
    `../${id}`,
    `${id}\n`,
    id.replaceAll("-", ""),
    "0190a5d0-0000-4000-8000-000000000000",
    "0190a5d0-0000-7000-c000-000000000000",
    "..",
  ];
  for (const other of others) {
    if (other === id) continue;
    assert.equal(isId(other), false, JSON.stringify(other));
  }
});
