import assert from "node:assert/strict";
import { test } from "node:test";
import { alignedTable, type Column, tabbedTable } from "../../../src/text/table.ts";
import { displayWidth, fit } from "../../../src/text/width.ts";
import { screenAfter } from "../../fixtures/test-terminal.ts";

const columns: Column<[string, string, string]>[] = [
  { title: "NAME", value: ([name]) => name },
  { title: "SIZE", value: ([, size]) => size, align: "right" },
  { title: "COMMAND", value: ([, , command]) => command, flexible: true },
];

const rows: [string, string, string][] = [
  ["a", "12", "echo one two three four"],
  ["漢字漢字", "7", "ls"],
];

test("aligns columns by display width, and does not pad the last", () => {
  assert.equal(
    alignedTable(columns, rows, 80),
    "NAME      SIZE  COMMAND\na           12  echo one two three four\n漢字漢字     7  ls\n",
  );
});

test("cuts a flexible column until the table fits", () => {
  const table = alignedTable(columns, rows, 30);
  assert.equal(table, "NAME      SIZE  COMMAND\na           12  echo one two …\n漢字漢字     7  ls\n");
  for (const line of table.trimEnd().split("\n")) assert.ok(displayWidth(line) <= 30);
});

test("narrows the widest flexible column first, down to a minimum", () => {
  const both = columns.map((column) => ({ ...column, flexible: column.title !== "SIZE" }));
  const long: [string, string, string][] = [["n".repeat(30), "12", "c".repeat(100_000)]];
  assert.deepEqual(alignedTable(both, long, 50).split("\n")[1]?.split(/ +/).map(displayWidth), [21, 2, 21]);
  assert.deepEqual(alignedTable(both, long, 20).split("\n")[1]?.split(/ +/).map(displayWidth), [10, 2, 10]);
});

test("separates columns with tabs in output for programs, without titles and with complete values", () => {
  assert.equal(tabbedTable(columns, rows), "a\t12\techo one two three four\n漢字漢字\t7\tls\n");
});

test("measures width in cells, not characters", () => {
  const cells = { abc: 3, é: 1, "e\u0301": 1, 漢: 2, "🚪": 2, "👩‍👩‍👧": 2, ｆ: 2, "✓": 1, का: 2, 𗀀: 2 };
  for (const [text, width] of Object.entries(cells)) assert.equal(displayWidth(text), width, text);
  assert.equal(fit("漢字漢字", 5), "漢字…");
  assert.equal(fit("漢字漢字", 4), "漢…");
  assert.equal(fit("abc", 0), "");
});

test("never returns a smaller width for a character than a session's terminal draws", async () => {
  const characters: string[] = [];
  for (let code = 0xa0; code < 0x32000; code++) {
    const character = String.fromCodePoint(code);
    // Skip zero-width marks, which may be newer than the terminal's tables, and invisible characters.
    if (!/[\p{Mn}\p{Me}\p{C}\p{Zl}\p{Zp}]/u.test(character)) characters.push(character);
  }
  let wide = 0;
  for (let at = 0; at < characters.length; at += PER_SCREEN) {
    const part = characters.slice(at, at + PER_SCREEN);
    const widths = await drawnWidths(part);
    wide += widths.filter((width) => width === 2).length;
    for (const [index, character] of part.entries()) {
      const drawn = widths[index] ?? assert.fail();
      assert.ok(displayWidth(character) >= drawn, `U+${character.codePointAt(0)?.toString(16)} is drawn ${drawn} wide`);
    }
  }
  assert.ok(wide > 90_000, `${wide} wide characters`);
});

const SCREEN = { columns: 1000, rows: 250 };
const CELLS_EACH = 4;
const PER_SCREEN = (SCREEN.columns / CELLS_EACH) * SCREEN.rows;

/** Returns the number of cells that each character takes on a session's terminal. */
async function drawnWidths(characters: readonly string[]): Promise<number[]> {
  const perRow = SCREEN.columns / CELLS_EACH;
  const position = (index: number) => ({ row: Math.floor(index / perRow), column: (index % perRow) * CELLS_EACH });
  const output = characters.map((character, index) => {
    const { row, column } = position(index);
    return `${column === 0 ? `\x1b[${row + 1};1H` : `\x1b[${column + 1}G`}${character}`;
  });
  const { attributes } = await screenAfter(output.join(""), SCREEN);
  return characters.map((_, index) => {
    const { row, column } = position(index);
    const run = attributes?.[row]?.find(({ start, length }) => start <= column && column < start + length);
    if (!run) return 0;
    // A wide character is a separate run.
    if ([...run.text].length !== run.length) return run.length;
    return [...run.text][column - run.start] === " " ? 0 : 1;
  });
}
