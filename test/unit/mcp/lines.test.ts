import assert from "node:assert/strict";
import { test } from "node:test";
import { LineSplitter } from "../../../src/mcp/stdio.ts";

function cut(pieces: string[], maxBytes: number): string[] {
  const lines = new LineSplitter(maxBytes);
  return pieces.flatMap((piece) => [...lines.push(Buffer.from(piece))].map((line) => line.toString()));
}

test("reassembles lines from chunks of any size", () => {
  assert.deepEqual(cut(["one\ntwo\nthr", "ee\n"], 10), ["one", "two", "three"]);
  assert.deepEqual(cut(["a", "b", "c", "\n", "\n"], 10), ["abc", ""]);
});

test("removes a carriage return before the line feed", () => {
  assert.deepEqual(cut(["one\r\ntwo\r", "\n"], 10), ["one", "two"]);
});

test("accepts a line of the maximum size, and reports and skips a longer one", () => {
  assert.deepEqual(cut(["1234567890\nok\n"], 10), ["1234567890", "ok"]);
  assert.deepEqual(cut(["12345678901\nok\n"], 10), ["too long", "ok"]);
  assert.deepEqual(cut(["123456", "789012", "345678", "9\nok\n"], 10), ["too long", "ok"]);
});

test("reports a line that is too long before it ends", () => {
  assert.deepEqual(cut(["12345678901"], 10), ["too long"]);
});
