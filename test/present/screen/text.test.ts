import assert from "node:assert/strict";
import { test } from "node:test";
import { colouredRows } from "../../../src/present/screen/coloured.ts";
import { screenForModel } from "../../../src/present/screen/for-model.ts";
import { windowOnto } from "../../../src/present/screen/watched.ts";
import { screenAfter } from "./sample.ts";

test("a model gets the rows, and what they do not say in a line", async () => {
  assert.equal(
    screenForModel(await screenAfter("$ make\r\nerror\r\n$ ")),
    "$ make\nerror\n$\n[screen of 40 by 4, cursor in row 3, column 3]",
  );
  assert.equal(
    screenForModel(await screenAfter('\x1b[?1049h\x1b[?25l\x1b]2;a "b"\x07\x1b[2;1Hmenu')),
    '\nmenu\n[screen of 40 by 4, cursor hidden, full-screen program, title "a \\"b\\""]',
  );
});

test("what scrolled off comes first, and is the first to be left out", async () => {
  const screen = await screenAfter(Array.from({ length: 2000 }, (_, n) => `line ${n}`).join("\r\n"));
  assert.ok(screenForModel(screen).startsWith("line 0\nline 1\n"));
  const short = screenForModel(screen, { maxBytes: 400 });
  assert.ok(Buffer.byteLength(short) <= 400);
  assert.match(short, /line 1998\nline 1999\n\[screen of 40 by 4, cursor in row 4, column 10\]$/);
  assert.match(short, /bytes/);
});

test("another terminal is sent colours and cells only", async () => {
  const screen = await screenAfter("ab\x1b[5C\x1b[1;31mcd\x1b[0m\r\n\x1b[48;2;1;2;3m日本\x1b[0m\x1b]52;c;eA==\x07");
  assert.deepEqual(colouredRows(screen, 40).slice(0, 2), [
    "ab     \x1b[1;38;5;1mcd\x1b[0m",
    "\x1b[48;2;1;2;3m日\x1b[0m\x1b[48;2;1;2;3m本\x1b[0m",
  ]);
  assert.deepEqual(colouredRows(screen, 8)[0], "ab     \x1b[1;38;5;1mc\x1b[0m");
  assert.deepEqual(colouredRows(screen, 3)[1], "\x1b[48;2;1;2;3m日\x1b[0m");
});

test("of a screen taller than the window the part with the cursor is shown", () => {
  const cursor = (row: number) => ({ row, column: 0, visible: true });
  assert.deepEqual(windowOnto({ rows: 10, cursor: cursor(3) }, 24), { from: 0, to: 10 });
  assert.deepEqual(windowOnto({ rows: 50, cursor: cursor(3) }, 20), { from: 0, to: 20 });
  assert.deepEqual(windowOnto({ rows: 50, cursor: cursor(40) }, 20), { from: 21, to: 41 });
  assert.deepEqual(windowOnto({ rows: 50, cursor: cursor(49) }, 20), { from: 30, to: 50 });
  assert.deepEqual(windowOnto({ rows: 50, cursor: cursor(49) }, 0), { from: 49, to: 50 });
});
