import assert from "node:assert/strict";
import { test } from "node:test";
import { screenAfter, TestTerminal } from "../../../fixtures/test-terminal.ts";

const SIZE = { columns: 40, rows: 12 };

test("a screen has rows, cursor, title and modes", async () => {
  const output = "one\r\n\x1b[31mred\x1b[0m  \r\n\x1b]2;my title\x07\x1b[?1h\x1b[?2004h\x1b[?25l$ ";
  using terminal = new TestTerminal(SIZE, output);
  assert.deepEqual(await terminal.screen(), {
    ...SIZE,
    lines: ["one", "red", "$", ...Array(9).fill("")],
    cursor: { column: 2, row: 2, visible: false },
    title: "my title",
    alternate: false,
    modes: { applicationCursor: true, bracketedPaste: true },
    offset: output.length,
  });
});

test("restores the screen after a full-screen program", async () => {
  using terminal = new TestTerminal(SIZE, "before\r\n\x1b[?1049h\x1b[2J\x1b[5;5Hediting\x1b[1;1H");
  const { alternate, lines } = await terminal.screen();
  assert.deepEqual([alternate, lines[4]], [true, "    editing"]);
  terminal.write("\x1b[?1049lafter");
  assert.deepEqual((await terminal.screen()).lines.slice(0, 3), ["before", "after", ""]);
});

test("wide characters, emoji and accents take the right number of cells", async () => {
  const { lines, cursor } = await screenAfter("日本|👩‍🚀|e\u0301|🇩🇪|", SIZE);
  assert.equal(lines[0], "日本|👩‍🚀|e\u0301|🇩🇪|");
  assert.equal(cursor.column, 4 + 1 + 2 + 1 + 1 + 1 + 2 + 1);
});

test("returns attributes as runs of cells that look the same", async () => {
  const { attributes } = await screenAfter("ab\x1b[1;38;5;200;48;2;1;2;3mcd\x1b[0;7m日\x1b[0m", SIZE);
  const plain = { bold: false, dim: false, italic: false, underline: false, inverse: false, strikethrough: false };
  const none = { foreground: null, background: null, ...plain };
  assert.deepEqual(attributes?.[0], [
    { ...none, start: 0, length: 2, text: "ab" },
    { ...none, start: 2, length: 2, text: "cd", foreground: 200, background: "#010203", bold: true },
    { ...none, start: 4, length: 2, text: "日", inverse: true },
  ]);
  assert.deepEqual(attributes?.[1], []);
});

test("omits text that is invisible to a person", async () => {
  const { lines, title } = await screenAfter(
    "a\u202eb\u200bc\u{e0041}d \x1b[8msecret\x1b[0m.\x1b]0;evil\u202e\x01\ttitle\x07",
    SIZE,
  );
  assert.doesNotMatch(lines[0] ?? "", /[\p{Cf}\p{Cc}]|secret/u);
  assert.equal(lines[0]?.replaceAll(" ", ""), "abcd.");
  assert.doesNotMatch(title, /[\p{Cf}\p{Cc}]/u);
  assert.match(title, /evil\\u\{202e\}/);
});

test("keeps scrollback, and joins a wrapped line", async () => {
  const lines = Array.from({ length: 100 }, (_, n) => `line ${n} ${"-".repeat(n)}.`);
  const { scrollback } = await screenAfter(`${lines.join("\r\n")}${"\r\n".repeat(13)}`, SIZE);
  assert.deepEqual(scrollback?.slice(0, 100), lines);
});

test("clamps invalid sizes", async () => {
  using terminal = new TestTerminal({ columns: 1, rows: 1e9 }, "x");
  const { columns, rows } = await terminal.screen();
  assert.deepEqual({ columns, rows }, { columns: 2, rows: 1000 });
  terminal.resize({ columns: 1e9, rows: -4 });
  terminal.write("y");
  const resized = await terminal.screen();
  assert.deepEqual([resized.columns, resized.rows], [1000, 1]);
});
