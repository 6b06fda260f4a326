import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "../../../src/text/nearest.ts";

test("suggests only similar names", () => {
  const names = ["run", "ps", "logs", "inspect", "doctor"];
  assert.equal(nearest("rnu", names), "run");
  assert.equal(nearest("log", names), "logs");
  assert.equal(nearest("insp", names), "inspect");
  assert.equal(nearest("dcotor", names), "doctor");
  assert.equal(nearest("frobnicate", names), null);
  assert.equal(nearest("", names), null);
});
