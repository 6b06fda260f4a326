import assert from "node:assert/strict";
import { test } from "node:test";
import { MODEL_BYTES, SUMMARY_BYTES, TAIL_BYTES } from "../../../src/core/output-limits.ts";
import { aggregated, forModel, summary, tail } from "../../../src/text/model-output.ts";
import { lastLines } from "../../../src/text/truncate.ts";
import { randomText, seeded } from "../../fixtures/seeded.ts";

test("returns clean text, complete if it fits", () => {
  assert.deepEqual(forModel("10%\r100%\r\n\u001b[32mok\u001b[0m\r\n"), {
    text: "100%\nok\n",
    omittedBytes: 0,
    omittedLines: 0,
    binary: false,
  });
});

test("cleans text before cutting, so that a progress bar takes no space", () => {
  const bar = Array.from({ length: 10_000 }, (_, index) => `\r${index / 100}%`).join("");
  assert.equal(forModel(`${bar}\r100.00%\nthe error\n`, { maxBytes: 100 }).text, "100.00%\nthe error\n");
});

test("replaces binary data with a summary", () => {
  const png = Buffer.from(`\x89PNG\r\n\x1a\n${"\0\xff".repeat(500)}`, "latin1").toString("utf8");
  const told = forModel(png, { maxBytes: 1000, totalBytes: 1008, hint: "`head -c`" });
  assert.equal(told.text, "[binary output: PNG image, 1,008 bytes; read it with `head -c`]");
  assert.deepEqual([told.binary, told.omittedBytes, told.omittedLines], [true, 1008, null]);
  assert.equal(forModel(png).text, "[binary output: PNG image]");
  assert.equal(forModel("\0\u0001".repeat(50)).text, "[binary output: 100 bytes]");
});

test("marks missing bytes where they are missing", () => {
  const head = "\u001b[1mfirst\u001b[0m\n";
  const { text } = forModel(`${head}last\r\n`, { omittedAt: head.length, omittedBytes: 12_345, hint: "BashOutput" });
  assert.equal(text, "first\n[… 12,345 bytes left out; read them with BashOutput]\nlast\n");
  // Without a position, the marker is in the middle.
  assert.equal(forModel("aa\nbb\n", { omittedBytes: 9 }).text, "aa\n[… 9 bytes left out]\nbb\n");
});

test("never exceeds the limit", () => {
  const next = seeded(11);
  const parts = [
    "\u001b[31m",
    "\r",
    "word ",
    "\n",
    "\ufffd",
    "\0",
    "é",
    "😀",
    "\u0001",
    "\u202e",
    "a long line of words ",
  ];
  for (let round = 0; round < 2000; round++) {
    const output = randomText(next, parts, next(200));
    const maxBytes = next(300);
    const gap = next(2) === 0 ? { omittedAt: 0, omittedBytes: next(100) } : {};
    const { text } = forModel(output, { maxBytes, hint: "the log", ...gap });
    assert.ok(Buffer.byteLength(text) <= maxBytes, `${JSON.stringify(output)} in ${maxBytes}`);
  }
  assert.ok(Buffer.byteLength(forModel("€".repeat(1 << 20)).text) <= MODEL_BYTES);
});

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

test("summaries, aggregates and tails are readable and within their limits", () => {
  const many = Array.from({ length: 500 }, (_, index) => `${index}\n`).join("");
  assert.equal(summary(many), lastLines(many, 100));
  assert.equal(summary(many, 2), "498\n499\n");
  assert.equal(summary("a\r\n\u001b[1mb\u001b[0m\r\n", 1), "b\n");
  assert.ok(Buffer.byteLength(summary(`${"é".repeat(9000)}\n`.repeat(100))) <= SUMMARY_BYTES);
  assert.equal(aggregated(many), many);
  const cut = aggregated(`${"x".repeat(99)}\n`.repeat(3000), { hint: "`log`" });
  assert.match(cut, /\n\[… 1,001 lines \(100,100 bytes\) left out; read them with `log`\]\n/);
  assert.equal(tail("10%\r20%"), "20%");
  assert.equal(tail("é".repeat(TAIL_BYTES)), "é".repeat(TAIL_BYTES / 2));
  assert.equal(tail(`${"x".repeat(TAIL_BYTES - 3)}😀`.repeat(2)), `${"x".repeat(TAIL_BYTES - 4)}😀`);
  assert.equal(tail("\0\u0001".repeat(9)), "[binary output: 18 bytes]");
});

test("does not join lines before and after a gap", () => {
  const facts = { omittedAt: 4, omittedBytes: 100 };
  assert.equal(summary("a\nb\ny\nz\n", 100, facts), "y\nz\n");
  assert.equal(tail("a\nb\ny\nz\n", facts), "y\nz\n");
});
