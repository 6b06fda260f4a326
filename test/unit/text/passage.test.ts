import assert from "node:assert/strict";
import { test } from "node:test";
import { QueryFilter } from "../../../src/text/terminal/queries.ts";

/** Filters the output cut into two pieces at every position and into single bytes. All results must be equal. */
function passed(text: string, raw = true): string {
  const bytes = Buffer.from(text);
  const through = (pieces: Uint8Array[]) => {
    const passage = new QueryFilter({ raw });
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

test("removes sequences that act outside the screen, unless raw output is wanted", () => {
  const acting = [
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]0;title\x1b\\",
    "\x1b]8;;https://example.com\x07",
    "\x1b]777;notify;x;y\x07",
    "\x1bPq#0\x1b\\",
    "\x1b_Gf=100;AAAA\x1b\\",
    "\x1b^private\x1b\\",
    "\u009d52;c;x\u009c",
    "\x1b[5i",
    "\x1b[8;10;10t",
    `\x1b]52;c;${"A".repeat(200)}\x07`,
  ];
  for (const sequence of acting) {
    assert.equal(passed(`before${sequence}after`, false), "beforeafter", JSON.stringify(sequence));
    assert.equal(passed(`before${sequence}after`, true), `before${sequence}after`, JSON.stringify(sequence));
  }
  const drawing = "plain \x1b[1;31mred\x1b[0m 漢字 \x1b[2J\x1b[5;5H\x1b(B\x1b[?1049h end";
  assert.equal(passed(drawing, false), drawing);
});

test("drops a long sequence to its end, in any number of pieces", () => {
  const passage = new QueryFilter({ raw: false });
  const long = Buffer.from(`before\x1b]52;c;${"A".repeat(30_000)}\x07after\x1b]0;x\x07 end`);
  let text = "";
  for (let at = 0; at < long.length; at += 999) text += passage.filter(long.subarray(at, at + 999)).toString();
  assert.equal(text, "beforeafter end");
  assert.equal(new QueryFilter({ raw: false }).filter(long).toString(), "beforeafter end");
});

test("does not hold back an endless sequence", () => {
  const passage = new QueryFilter({ raw: true });
  const long = `\x1b]0;${"x".repeat(10_000)}`;
  assert.equal(passage.filter(Buffer.from(long)).length, long.length);
});

test("resets exactly the modes that were set", () => {
  const passage = new QueryFilter({ raw: true });
  passage.filter(Buffer.from("\x1b[?1049h\x1b[?1h\x1b=\x1b[?2004h\x1b[?1000;1006h\x1b[?25l\x1b[?1006l"));
  assert.equal(passage.reset(), "\x1b[?1000l\x1b[?2004l\x1b[?1l\x1b[?1049l\x1b[?25h\x1b>\x1b[m");
  assert.equal(new QueryFilter({ raw: true }).reset(), "\x1b[m");
});

test("resets and restores the keyboard protocols and modes that a program has selected", () => {
  const passage = new QueryFilter({ raw: true });
  passage.filter(Buffer.from("\x1b[>1u\x1b[>5u\x1b[<u\x1b[>4;2m\x1b[?1002h\x1b[?1049h\x1b[1;31mred"));
  assert.equal(passage.keyboard(), "\x1b[>1u\x1b[>4;2m");
  assert.equal(passage.modes(), "\x1b[?1002h");
  assert.equal(passage.reset(), "\x1b[<u\x1b[?1002l\x1b[?1049l\x1b[>4m\x1b[m");
  passage.filter(Buffer.from("\x1b[<9u\x1b[>4m"));
  assert.equal(passage.keyboard(), "");
});

test("removes titles while the title is kept, also where other sequences are passed on", () => {
  let keeps = true;
  const passage = new QueryFilter({ raw: true, keepsTitle: () => keeps });
  const title = "\x1b]2;title\x07\x1b]0;title\x1b\\";
  assert.equal(passage.filter(Buffer.from(`${title}\x1b]8;;x\x07`)).toString(), "\x1b]8;;x\x07");
  keeps = false;
  assert.equal(passage.filter(Buffer.from(title)).toString(), title);
});

test("removes strings that send keys to the terminal or define them, also where others are passed on", () => {
  const kept = ["\x1bPq#0~\x1b\\", "\x1b_Ga=T;AAAA\x1b\\", "\x1b]0;title\x07", `\x1bP1;2q${"~".repeat(9000)}\x1b\\`];
  const removed = [
    '\x1bP@kitty-cmd{"cmd":"send-text","payload":{"data":"text:o"}}\x1b\\',
    "\x1bP0;1|17/6f\x1b\\",
    "\x1bPtmux;\x1b\\",
    `\x1bP@kitty-cmd{"cmd":"send-text"${" ".repeat(9000)}}\x1b\\`,
  ];
  for (const size of [1, 100, 5000, 20_000]) {
    const passage = new QueryFilter({ raw: true });
    const bytes = Buffer.from([...kept, ...removed].map((text) => `<${text}>`).join(""));
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(passage.filter(bytes.subarray(at, at + size)));
    assert.equal(
      Buffer.concat(pieces).toString(),
      [...kept, ...removed.map(() => "")].map((text) => `<${text}>`).join(""),
    );
  }
});
