import assert from "node:assert/strict";
import { test } from "node:test";
import { summary, tail } from "../../../src/text/model-output.ts";
import { SUMMARY_BYTES, TAIL_BYTES } from "../../../src/text/output-limits.ts";
import { lastLines } from "../../../src/text/truncate.ts";

test("returns the last lines of a text", () => {
  const cases: [text: string, count: number, last: string][] = [
    ["", 5, ""],
    ["a", 1, "a"],
    ["a\nb\nc\n", 2, "b\nc\n"],
    ["a\nb\nc", 2, "b\nc"],
    ["a\nb\nc\n", 3, "a\nb\nc\n"],
    ["a\nb\nc\n", 9, "a\nb\nc\n"],
    ["a\n\n\n", 2, "\n\n"],
    ["\n", 1, "\n"],
    ["a\nb\n", 0, ""],
  ];
  for (const [text, count, last] of cases) assert.equal(lastLines(text, count), last, JSON.stringify(text));
});

test("summaries and tails are readable and within their limits", () => {
  const many = Array.from({ length: 500 }, (_, index) => `${index}\n`).join("");
  assert.equal(summary(many), lastLines(many, 100));
  assert.equal(summary(many, 2), "498\n499\n");
  assert.equal(summary("a\r\n\u001b[1mb\u001b[0m\r\n", 1), "b\n");
  assert.ok(Buffer.byteLength(summary(`${"é".repeat(9000)}\n`.repeat(100))) <= SUMMARY_BYTES);
  assert.equal(tail("10%\r20%"), "20%");
  assert.equal(tail("é".repeat(TAIL_BYTES)), "é".repeat(TAIL_BYTES / 2));
  assert.equal(tail(`${"x".repeat(TAIL_BYTES - 3)}😀`.repeat(2)), `${"x".repeat(TAIL_BYTES - 4)}😀`);
});
