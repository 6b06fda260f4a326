import assert from "node:assert/strict";
import { test } from "node:test";
import { splitArguments } from "../../../web/src/pages/rules/split-arguments.ts";
import { joined, linesOf, regionOf, trimmed } from "../../../web/src/pages/session/log/region.ts";
import { renderLine, wrapRuns } from "../../../web/src/pages/session/log/render.ts";
import { rowAt, rowsOf } from "../../../web/src/pages/session/log/rows.ts";
import { afterSgr, PLAIN } from "../../../web/src/pages/session/log/sgr.ts";
import { treeOf } from "../../../web/src/pages/session/usage/tree.ts";
import { piecesOf } from "../../../web/src/ui/pieces.ts";
import { stretches } from "../../../web/src/ui/stretches.ts";

const ESC = "\u001b";

function textOf(line: string, raw = false): string {
  return renderLine(line, PLAIN, raw)
    .runs.map(({ text }) => text)
    .join("");
}

const chunk = (text: string, offset: number, stream: "stdout" | "stderr" = "stdout") => ({
  stream,
  offset,
  dropped: 0,
  timeMs: null,
  text,
});
const region = (text: string, from = 0) =>
  regionOf({ chunks: [chunk(text, from)], nextOffset: from + Buffer.byteLength(text), totalBytes: 0, droppedBytes: 0 });

test("colors are parsed and carry over to the next line", () => {
  const red = afterSgr(PLAIN, "31");
  assert.equal(red.fg, 1);
  assert.equal(afterSgr(red, "").fg, null);
  assert.equal(afterSgr(PLAIN, "38;5;208").fg, "#ff8700");
  assert.equal(afterSgr(PLAIN, "48:2::1:2:3").bg, "#010203");
  assert.deepEqual(afterSgr(PLAIN, "1;4;7"), { ...PLAIN, bold: true, underline: true, inverse: true });
  const lines = linesOf(region(`${ESC}[31mone\ntwo${ESC}[m\nthree\n`));
  assert.deepEqual(
    lines.map(({ pen }) => pen.fg),
    [null, 1, null],
  );
});

test("other escape sequences are removed, and invisible characters are shown as codes", () => {
  assert.equal(textOf(`a${ESC}[2Jb${ESC}]0;title\u0007c${ESC}]52;c;aGk=${ESC}\\d`), "abcd");
  assert.equal(textOf(`${ESC}]8;;http://evil.example\u0007safe${ESC}]8;;\u0007`), "safe");
  assert.equal(textOf("a\u202eb\u200bc\u0000"), "a‹U+202E›b‹U+200B›c‹NUL›");
  assert.equal(textOf(`${ESC}[8msecret`), "secret");
  assert.equal(textOf(`half ${ESC}[31`), "half ‹escape›[31");
  assert.match(textOf(`a${ESC}[2Jb`, true), /^a‹escape›\[2Jb$/);
});

test("an overwritten line shows its last state, or every state in raw mode", () => {
  assert.equal(textOf("10%\r50%\r100%"), "⟲2 100%");
  assert.equal(textOf("10%\r100%", true), "10%‹return›100%");
});

test("tabs and wide characters take the right number of cells", () => {
  assert.equal(textOf("a\tb"), "a       b");
  const rows = wrapRuns(renderLine("漢字漢字x", PLAIN, false).runs, 4);
  assert.deepEqual(
    rows.map((row) => row.map(({ text }) => text).join("")),
    ["漢字", "漢字", "x"],
  );
});

test("lines have byte positions, and a region that starts inside a line omits that line", () => {
  assert.deepEqual(
    linesOf(region("é1\nline 2\n")).map(({ position, text }) => [position, text]),
    [
      [0, "é1"],
      [4, "line 2"],
    ],
  );
  assert.deepEqual(
    linesOf(region("tail of one\nwhole\n", 100)).map(({ position, text }) => [position, text]),
    [[112, "whole"]],
  );
});

test("regions can be joined and trimmed, and rows are found by position", () => {
  const both = joined(region("one\ntw", 0), region("o\nthree\n", 6));
  assert.deepEqual(
    linesOf(both).map(({ text }) => text),
    ["one", "two", "three"],
  );
  assert.deepEqual([trimmed(both, 8, "end").from, trimmed(both, 8, "start").to], [6, 6]);
  const rows = rowsOf(both, 2, false);
  assert.equal(rows[rowAt(rows, 4)]?.line.text, "two");
  assert.equal(rows[rowAt(rows, 8, 1)]?.part, 1);
});

test("a change of stream starts a new line, and an endless line is split", () => {
  const mixed = regionOf({
    chunks: [chunk("out", 0), chunk("err\n", 0, "stderr"), chunk("more\n", 3)],
    nextOffset: 12,
    totalBytes: 12,
    droppedBytes: 0,
  });
  assert.deepEqual(
    linesOf(mixed).map(({ stream, text }) => [stream, text]),
    [
      ["stdout", "out"],
      ["stderr", "err"],
      ["stdout", "more"],
    ],
  );
  assert.ok(linesOf(region("x".repeat(100_000))).length > 10);
});

test("invalid UTF-8 is shown with replacement characters", () => {
  const broken = regionOf({
    chunks: [{ ...chunk("", 0), text: undefined, base64: Buffer.from([0x61, 0xff, 0x0a]).toString("base64") }],
    nextOffset: 3,
    totalBytes: 3,
    droppedBytes: 0,
  });
  assert.deepEqual(
    linesOf(broken).map(({ text }) => text),
    ["a\ufffd"],
  );
});

test("a line is split into arguments as in a shell", () => {
  assert.deepEqual(splitArguments(`git commit -m 'a "b"' x\\ y ""`), ["git", "commit", "-m", 'a "b"', "x y", ""]);
});

test("text is split at marks, including overlapping and out-of-range ones", () => {
  const parts = stretches("rm -rf /", [
    { start: 0, end: 2, kind: "a" },
    { start: 1, end: 99, kind: "b", why: "because" },
    { start: -5, end: -1, kind: "c" },
  ]);
  assert.deepEqual(
    parts.map(({ text, kinds, why }) => [text, kinds.join("+"), why]),
    [
      ["r", "a", undefined],
      ["m", "a+b", "because"],
      [" -rf /", "b", "because"],
    ],
  );
});

test("invisible characters are separated from the text and shown as codes", () => {
  assert.deepEqual(piecesOf("a\u202eb\nc", true), [
    { text: "a", hidden: false },
    { text: "‹U+202E›", hidden: true },
    { text: "b\nc", hidden: false },
  ]);
  assert.equal(piecesOf("a\nb")[1]?.text, "‹line break›");
});

test("a process tree lists parents before children and tolerates cycles", () => {
  const process = (pid: number, ppid: number) => ({ pid, ppid, state: "S", command: "", cpuMs: 0, memoryBytes: 0 });
  assert.deepEqual(
    treeOf([process(3, 2), process(2, 1), process(9, 1)]).map(({ process: { pid }, depth }) => [pid, depth]),
    [
      [2, 0],
      [3, 1],
      [9, 0],
    ],
  );
  assert.equal(treeOf([process(1, 2), process(2, 1)]).length, 2);
});
