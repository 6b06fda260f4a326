import assert from "node:assert/strict";
import { test } from "node:test";
import { VisibleOutput } from "../../../src/text/terminal/visible-output.ts";

function shown(output: string | Uint8Array, { color = true, pieces = 1 } = {}): string {
  const bytes = Buffer.from(output);
  const filter = new VisibleOutput({ color });
  const size = Math.ceil(bytes.length / pieces);
  let text = "";
  for (let at = 0; at < bytes.length; at += size) text += filter.convert(bytes.subarray(at, at + size));
  return text + filter.end();
}

test("shows escape sequences and control characters instead of passing them on", () => {
  const cases: [string, string][] = [
    ["plain\ttext\n", "plain\ttext\n"],
    ["\x1b]52;c;ZXZpbA==\x07", "\\e]52;c;ZXZpbA==\\x07"],
    ["\x1b]0;title\x1b\\", "\\e]0;title\\e\\"],
    ["\x1b[2J\x1b[H", "\\e[2J\\e[H"],
    ["\x1bc", "\\ec"],
    ["\x1b[?1049h", "\\e[?1049h"],
    ["a\bb\x7f\0", "a\\x08b\\x7f\\x00"],
    ["\u009b2J", "\\x9b2J"],
    ["\u202eabc", "\\u{202e}abc"],
    ["日本 👨‍👩‍👧", "日本 👨‍👩‍👧"],
  ];
  for (const [output, expected] of cases) assert.equal(shown(output), expected);
});

test("starts a new line at a carriage return, which could otherwise overwrite text", () => {
  assert.equal(shown("evil\rgood\r\nnext\r"), "evil\ngood\nnext\n");
});

test("replaces invalid UTF-8, which some terminals take for control characters", () => {
  assert.equal(shown(Uint8Array.of(0x61, 0x9b, 0x32, 0x4a)), "a\ufffd2J");
});

test("keeps readable colors and resets them at the end", () => {
  assert.equal(shown("\x1b[31mred\x1b[0m"), "\x1b[31mred\x1b[0m");
  assert.equal(shown("\x1b[1;92mgreen"), "\x1b[1;92mgreen\x1b[0m");
  assert.equal(shown("\x1b[31mred", { color: false }), "red");
});

test("drops attributes that could hide text", () => {
  for (const hiding of ["8", "30", "40", "97", "47", "38;5;0", "38;2;31;31;31", "48;5;31", "7"]) {
    assert.equal(shown(`\x1b[${hiding}mtext`), "text", hiding);
  }
  assert.equal(shown("\x1b[31;8mtext"), "\x1b[31mtext\x1b[0m");
});

test("gives the same result however the output is split", () => {
  const output = "a\r\nb\x1b[31mc\x1b[0m\x1b]52;c;x\x07é漢\u202ed\re";
  const whole = shown(output);
  for (let pieces = 2; pieces < 40; pieces++) assert.equal(shown(output, { pieces }), whole, `${pieces} pieces`);
});

test("does not hold back a long run of parameters", () => {
  const output = `\x1b[${"1;".repeat(5000)}m`;
  assert.equal(shown(output, { pieces: 100 }), `\\e[${"1;".repeat(5000)}m`);
});
