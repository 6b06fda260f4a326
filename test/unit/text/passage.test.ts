import assert from "node:assert/strict";
import { test } from "node:test";
import { QueryFilter } from "../../../src/text/terminal/queries.ts";

/** Filters the output cut into two pieces at every position and into single bytes. All results must be equal. */
function passed(text: string): string {
  const bytes = Buffer.from(text);
  const through = (pieces: Uint8Array[]) => {
    const passage = new QueryFilter();
    return Buffer.concat(pieces.map((piece) => passage.filter(piece))).toString();
  };
  const whole = through([bytes]);
  for (let at = 1; at < bytes.length; at++) assert.equal(through([bytes.subarray(0, at), bytes.subarray(at)]), whole);
  assert.equal(through([...bytes].map((byte) => Uint8Array.of(byte))), whole);
  return whole;
}

for (const question of [
  "\x1b[c",
  "\x1b[0c",
  "\x1b[>c",
  "\x1b[=c",
  "\x1b[5n",
  "\x1b[6n",
  "\x1b[?6n",
  "\x1b[>0q",
  "\x1b[?2026$p",
  "\x1b[18t",
  "\x1b[?u",
  "\x1b]10;?\x07",
  "\x1b]11;?\x1b\\",
  "\x1b]4;1;?\x07",
  "\x1bP$qm\x1b\\",
  "\x1bP+q544e\x1b\\",
  "\x1bZ",
  "\u009b6n",
  "\u009d11;?\u009c",
]) {
  test(`removes the query ${JSON.stringify(question)}`, () => {
    assert.equal(passed(`before${question}after`), "beforeafter");
  });
}

test("passes everything else unchanged, including incomplete characters", () => {
  const text = "plain \x1b[1;31mred\x1b[0m \x1b]0;title\x07 漢字 😀 \x1b[2J\x1b[5;5H\x1b[4n\x1bPq#0\x1b\\ \x1b(B end";
  const kept = text.replace("\x1b[4n", "");
  assert.equal(passed(text), kept);
});

test("does not hold back an endless sequence", () => {
  const passage = new QueryFilter();
  const long = `\x1b]0;${"x".repeat(10_000)}`;
  assert.equal(passage.filter(Buffer.from(long)).length, long.length);
});

test("resets exactly the modes that were set", () => {
  const passage = new QueryFilter();
  passage.filter(Buffer.from("\x1b[?1049h\x1b[?1h\x1b=\x1b[?2004h\x1b[?1000;1006h\x1b[?25l\x1b[?1006l"));
  assert.equal(passage.reset(), "\x1b[?1000l\x1b[?2004l\x1b[?1l\x1b[?1049l\x1b[?25h\x1b>\x1b[m");
  assert.equal(new QueryFilter().reset(), "\x1b[m");
});
