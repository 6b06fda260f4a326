import assert from "node:assert/strict";
import { test } from "node:test";
import { wantsColor } from "../../../src/cli/io.ts";

test("colour: on terminals, unless NO_COLOR; FORCE_COLOR decides either way", () => {
  assert.equal(wantsColor(true, {}), true);
  assert.equal(wantsColor(false, {}), false);
  assert.equal(wantsColor(true, { NO_COLOR: "1" }), false);
  assert.equal(wantsColor(true, { NO_COLOR: "" }), true);
  assert.equal(wantsColor(true, { TERM: "dumb" }), false);
  assert.equal(wantsColor(false, { FORCE_COLOR: "1", NO_COLOR: "1" }), true);
  assert.equal(wantsColor(true, { FORCE_COLOR: "0" }), false);
});
