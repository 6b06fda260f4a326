import assert from "node:assert/strict";
import { test } from "node:test";
import { ansiRows, visibleRows } from "../../../../src/session/terminal/render/ansi.ts";
import { screenAfter } from "../../../fixtures/test-terminal.ts";

test("renders only text and its attributes, without other escape sequences of the program", async () => {
  const screen = await screenAfter("ab\x1b[5C\x1b[1;31mcd\x1b[0m\r\n\x1b[48;2;1;2;3m日本\x1b[0m\x1b]52;c;eA==\x07");
  assert.deepEqual(ansiRows(screen, 40).slice(0, 2), [
    "ab     \x1b[1;38;5;1mcd\x1b[0m",
    "\x1b[48;2;1;2;3m日\x1b[0m\x1b[48;2;1;2;3m本\x1b[0m",
  ]);
  assert.deepEqual(ansiRows(screen, 8)[0], "ab     \x1b[1;38;5;1mc\x1b[0m");
  assert.deepEqual(ansiRows(screen, 3)[1], "\x1b[48;2;1;2;3m日\x1b[0m");
});

test("shows the rows around the cursor of a screen taller than the window", () => {
  const cursor = (row: number) => ({ row, column: 0, visible: true });
  assert.deepEqual(visibleRows({ rows: 10, cursor: cursor(3) }, 24), { from: 0, to: 10 });
  assert.deepEqual(visibleRows({ rows: 50, cursor: cursor(3) }, 20), { from: 0, to: 20 });
  assert.deepEqual(visibleRows({ rows: 50, cursor: cursor(40) }, 20), { from: 21, to: 41 });
  assert.deepEqual(visibleRows({ rows: 50, cursor: cursor(49) }, 20), { from: 30, to: 50 });
  assert.deepEqual(visibleRows({ rows: 50, cursor: cursor(49) }, 0), { from: 49, to: 50 });
});
