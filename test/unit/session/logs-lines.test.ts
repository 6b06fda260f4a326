import assert from "node:assert/strict";
import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readLog } from "./session-data.ts";
import { headerBytes, temporaryFolder, writeLog } from "./timeline-writer.ts";

const ENDED = { live: false };

const TEXTS = {
  "an empty log": "",
  "one line": "a\n",
  "a text without a final line feed": "a\nb\nc",
  "a text of only line feeds": "\n\n\n\n",
  "CRLF lines": "a\r\nb\r\nc\r\n",
  "a text with empty lines at the end": "a\nb\n\n\n",
  "lines longer than the search step": `${"x".repeat(70_000)}\n${"é".repeat(70_000)}\nend`,
  "many lines": Array.from({ length: 50_000 }, (_, index) => `line ${index + 1}\n`).join(""),
};

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

for (const [what, text] of Object.entries(TEXTS)) {
  test(`returns the last lines of ${what}`, async () => {
    using folder = temporaryFolder();
    writeLog(folder.path, "merged", [{ stream: 0, data: text }]);
    for (const tail of [0, 1, 2, 3, 4, 5, 1000, 60_000]) {
      const expected = tail === 0 ? "" : linesOf(text).slice(-tail).join("");
      assert.equal((await readLog(folder.path, "merged", { tail }, ENDED)).text, expected, `${tail}`);
    }
  });

  test(`returns ranges of lines of ${what}`, async () => {
    using folder = temporaryFolder();
    writeLog(folder.path, "merged", [{ stream: 0, data: text }]);
    const lines = linesOf(text);
    const ranges: [number | undefined, number | undefined][] = [
      [1, undefined],
      [1, 1],
      [2, 3],
      [3, 2],
      [2, 1_000_000],
      [undefined, 2],
      [49_999, 50_000],
      [-2, undefined],
      [-3, -2],
      [-1_000_000, 1],
    ];
    for (const [fromLine, toLine] of ranges) {
      const from = fromLine === undefined ? 0 : fromLine < 0 ? fromLine : fromLine - 1;
      const to = toLine === undefined ? lines.length : toLine < 0 ? lines.length + toLine + 1 : toLine;
      const { text, totalLines } = await readLog(folder.path, "merged", { fromLine, toLine }, ENDED);
      assert.equal(text, lines.slice(from, to).join(""), `${fromLine} to ${toLine}`);
      assert.equal(totalLines, lines.length);
    }
  });
}

test("cuts last lines longer than the limit at their start, between characters", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "merged", [{ stream: 0, data: `first\n${"é".repeat(100)}\nlast\n` }]);
  const slice = await readLog(folder.path, "merged", { tail: 2, limit: 10 }, ENDED);
  assert.equal(slice.text, "é\nlast\n".padStart(8, "é"));
  assert.equal(slice.nextOffset, slice.totalBytes);
});

test("cuts a range longer than the limit at its end, and continues it in the next read", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "merged", [{ stream: 0, data: "a\nbbbb\ncccc\nd\n" }]);
  const slice = await readLog(folder.path, "merged", { fromLine: 2, toLine: 3, limit: 6 }, ENDED);
  assert.deepEqual([slice.text, slice.nextOffset], ["bbbb\nc", 8]);
});

test("returns the last lines of interleaved streams", async () => {
  using folder = temporaryFolder();
  writeLog(folder.path, "apart", [
    { stream: 0, data: "out 1\nout " },
    { stream: 1, data: "err 1\n" },
    { stream: 0, data: "2\n" },
    { stream: 1, data: "err 2" },
  ]);
  const text = async (tail: number) => (await readLog(folder.path, "apart", { tail }, ENDED)).text;
  assert.deepEqual(await Promise.all([1, 2, 3, 9].map(text)), [
    "err 2",
    "2\nerr 2",
    "out err 1\n2\nerr 2",
    "out 1\nout err 1\n2\nerr 2",
  ]);
});

test("finds last lines across a hole of gigabytes in little memory", async () => {
  using folder = temporaryFolder();
  const gigabyte = 2 ** 30;
  const fd = openSync(join(folder.path, "output"), "w");
  writeSync(fd, "head 1\nhead 2\n");
  ftruncateSync(fd, 8 * gigabyte);
  writeSync(fd, "tail 1\ntail 2\n", 8 * gigabyte);
  closeSync(fd);
  const holes: [[number, number], [number, number]] = [
    [14, 8 * gigabyte],
    [0, 0],
  ];
  writeFileSync(join(folder.path, "timeline"), headerBytes({ holes }));
  const before = process.memoryUsage();
  const slice = await readLog(folder.path, "merged", { tail: 3 }, ENDED);
  assert.equal(slice.text, "head 2\ntail 1\ntail 2\n");
  assert.equal(slice.droppedBytes, 8 * gigabyte - 14);
  const whole = await readLog(folder.path, "merged", { fromLine: 2, toLine: 3 }, ENDED);
  assert.deepEqual([whole.text, whole.totalLines], ["head 2\ntail 1\n", 4]);
  const after = process.memoryUsage();
  assert.ok(after.arrayBuffers - before.arrayBuffers < 8 * 2 ** 20);
});

test("finds last lines of a sparse gigabyte without reading all of it", async () => {
  using folder = temporaryFolder();
  const fd = openSync(join(folder.path, "output"), "w");
  ftruncateSync(fd, 2 ** 30);
  writeSync(fd, `\n${"line\n".repeat(200)}`, 2 ** 30);
  closeSync(fd);
  const before = process.memoryUsage();
  const slice = await readLog(folder.path, "merged", { tail: 100 }, ENDED);
  assert.equal(slice.text, "line\n".repeat(100));
  assert.ok(process.memoryUsage().arrayBuffers - before.arrayBuffers < 4 * 2 ** 20);
});
