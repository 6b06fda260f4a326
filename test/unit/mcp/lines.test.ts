import assert from "node:assert/strict";
import { test } from "node:test";
import { LineSplitter } from "../../../src/mcp/stdio.ts";

function cut(pieces: string[], maxBytes: number): string[] {
  const lines = new LineSplitter(maxBytes);
  return pieces.flatMap((piece) => [...lines.push(Buffer.from(piece))].map((line) => line.toString()));
}

test("lines come out whole, however the stream was cut", () => {
  assert.deepEqual(cut(["one\ntwo\nthr", "ee\n"], 10), ["one", "two", "three"]);
  assert.deepEqual(cut(["a", "b", "c", "\n", "\n"], 10), ["abc", ""]);
});

test("a carriage return before the line feed is not part of the line", () => {
  assert.deepEqual(cut(["one\r\ntwo\r", "\n"], 10), ["one", "two"]);
});

test("a line of the largest size passes, one byte more is told once and skipped", () => {
  assert.deepEqual(cut(["1234567890\nok\n"], 10), ["1234567890", "ok"]);
  assert.deepEqual(cut(["12345678901\nok\n"], 10), ["too long", "ok"]);
  assert.deepEqual(cut(["123456", "789012", "345678", "9\nok\n"], 10), ["too long", "ok"]);
});

test("it is told as soon as it is known, not when the line ends", () => {
  assert.deepEqual(cut(["12345678901"], 10), ["too long"]);
});
