import assert from "node:assert/strict";
import { test } from "node:test";
import { Emulator } from "../../../../src/session/terminal/emulator.ts";
import { seeded } from "../../../fixtures/seeded.ts";
import { randomOutput } from "./random-output.ts";

const SIZE = { columns: 40, rows: 12 };

async function drawn(output: string | Uint8Array, size = SIZE): Promise<Emulator> {
  const emulator = new Emulator(size);
  await emulator.feed(Buffer.from(output as string));
  return emulator;
}

test("a screen is what a person would see: rows, cursor, title, modes", async () => {
  const emulator = await drawn("one\r\n\x1b[31mred\x1b[0m  \r\n\x1b]2;my title\x07\x1b[?1h\x1b[?2004h\x1b[?25l$ ");
  assert.deepEqual(emulator.screen(), {
    ...SIZE,
    lines: ["one", "red", "$", ...Array(9).fill("")],
    cursor: { column: 2, row: 2, visible: false },
    title: "my title",
    alternate: false,
    modes: { applicationCursor: true, bracketedPaste: true },
  });
});

test("a full-screen program leaves the screen as it found it", async () => {
  const emulator = await drawn("before\r\n\x1b[?1049h\x1b[2J\x1b[5;5Hediting\x1b[1;1H");
  assert.equal(emulator.screen().alternate, true);
  assert.equal(emulator.screen().lines[4], "    editing");
  await emulator.feed(Buffer.from("\x1b[?1049lafter"));
  assert.deepEqual(emulator.screen().lines.slice(0, 3), ["before", "after", ""]);
});

test("wide characters, emoji and accents take the cells they take", async () => {
  const { lines, cursor } = (await drawn("日本|👩‍🚀|e\u0301|🇩🇪|")).screen();
  assert.equal(lines[0], "日本|👩‍🚀|e\u0301|🇩🇪|");
  assert.equal(cursor.column, 4 + 1 + 2 + 1 + 1 + 1 + 2 + 1);
});

test("attributes come as runs of cells that look the same", async () => {
  const { attributes } = (await drawn("ab\x1b[1;38;5;200;48;2;1;2;3mcd\x1b[0;7m日\x1b[0m")).screen({
    attributes: true,
  });
  const plain = { bold: false, dim: false, italic: false, underline: false, inverse: false, strikethrough: false };
  const none = { foreground: null, background: null, ...plain };
  assert.deepEqual(attributes?.[0], [
    { ...none, start: 0, length: 2, text: "ab" },
    { ...none, start: 2, length: 2, text: "cd", foreground: 200, background: "#010203", bold: true },
    { ...none, start: 4, length: 2, text: "日", inverse: true },
  ]);
  assert.deepEqual(attributes?.[1], []);
});

test("what a person would not see, a model does not read", async () => {
  const { lines, title } = (
    await drawn("a\u202eb\u200bc\u{e0041}d \x1b[8msecret\x1b[0m.\x1b]0;evil\u202e\x01\ttitle\x07")
  ).screen();
  assert.doesNotMatch(lines[0] ?? "", /[\p{Cf}\p{Cc}]|secret/u);
  assert.equal(lines[0]?.replaceAll(" ", ""), "abcd.");
  assert.doesNotMatch(title, /[\p{Cf}\p{Cc}]/u);
  assert.match(title, /evil\\u\{202e\}/);
});

test("what scrolled off is kept, and a wrapped line is one line", async () => {
  const lines = Array.from({ length: 100 }, (_, n) => `line ${n} ${"-".repeat(n)}.`);
  const emulator = await drawn(`${lines.join("\r\n")}\r\n`);
  assert.equal(emulator.text(), lines.join("\n"));
});

test("a saved terminal goes on as the one it was saved from, wherever it was cut", async () => {
  const next = seeded(7);
  let compared = 0;
  for (let round = 0; round < 150; round++) {
    // A position the program saved is the one thing that is lost.
    const output = randomOutput(next, 120, /1049/);
    const cut = next(output.length);
    if ((output[cut] ?? 0) >= 0x80) continue; // an accent would belong to the letter before the cut
    const one = await drawn(output.subarray(0, cut));
    const saved = one.serialize();
    if (saved === null) continue;
    const other = await drawn(saved);
    assert.deepEqual(other.screen(), one.screen());
    await one.feed(output.subarray(cut));
    await other.feed(output.subarray(cut));
    assert.deepEqual(other.screen(), one.screen(), `round ${round}`);
    compared++;
  }
  assert.ok(compared > 30);
});

test("a terminal saved inside a full-screen program knows what is behind it", async () => {
  const one = await drawn("$ vim\r\n\x1b[?1049h\x1b[?1h\x1b[2;10r\x1b[2J\x1b[3;4Htext\x1b[31m");
  const other = await drawn(one.serialize() ?? "");
  const rest = Buffer.from("more\x1b[?1049l\x1b[?1l\x1b[r\x1b[2;1H$ ");
  for (const emulator of [one, other]) await emulator.feed(rest);
  assert.deepEqual(other.screen({ attributes: true }), one.screen({ attributes: true }));
  assert.deepEqual(other.screen().lines.slice(0, 2), ["$ vim", "$"]);
});

test("nothing is saved in the middle of a sequence or of a character", async () => {
  for (const output of ["\x1b", "\x1b[3", "\x1b]2;tit", "\x1bPq", "\xc3"]) {
    assert.equal((await drawn(Buffer.from(`x${output}`, "latin1"))).serialize(), null, JSON.stringify(output));
  }
});

test("sizes that make no sense are made sense of", async () => {
  const emulator = new Emulator({ columns: 0, rows: 1e9 });
  assert.deepEqual(emulator.size, { columns: 2, rows: 1000 });
  emulator.resize({ columns: Number.NaN, rows: -4 });
  assert.deepEqual(emulator.size, { columns: 2, rows: 1 });
});
