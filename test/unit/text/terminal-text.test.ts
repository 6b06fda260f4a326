import assert from "node:assert/strict";
import { test } from "node:test";
import { terminalText } from "../../../src/text/terminal/terminal-text.ts";
import { randomText, seeded } from "../../fixtures/seeded.ts";
import { cpuMs } from "./cpu-time.ts";

const ESC = "\u001b";
const BEL = "\u0007";

function each(cases: [shown: string, ...texts: string[]][]): void {
  for (const [shown, ...texts] of cases) {
    for (const text of texts) assert.equal(terminalText(text), shown, JSON.stringify(text));
  }
}

test("returns text without control characters unchanged", () => {
  each([
    ["", ""],
    ["a\tb\n\nc", "a\tb\n\nc"],
    ["naïve €😀 ✓\n", "naïve €😀 ✓\n"],
  ]);
});

test("removes escape sequences and keeps the text between them", () => {
  each([
    ["red bold", `${ESC}[31mred ${ESC}[1;38;2;1;2;3mbold${ESC}[0m`, `${ESC}[31mred${ESC}[m bold`],
    ["cursor", `${ESC}[?25lcursor${ESC}[?25h`, `${ESC}[>4;1mcursor${ESC}[ q`],
    [
      "link",
      `${ESC}]8;;https://example.org${ESC}\\link${ESC}]8;;${ESC}\\`,
      `${ESC}]8;;http://x${BEL}link${ESC}]8;;${BEL}`,
    ],
    ["title", `${ESC}]0;a title${BEL}title`, `${ESC}]2;a title\u009ctitle`, `${ESC}ka title${ESC}\\title`],
    ["clip", `${ESC}]52;c;c2VjcmV0${BEL}clip`, `\u009d52;c;c2VjcmV0\u009cclip`],
    [
      "image",
      `${ESC}Pq#0;2;0~~\n@@vv${ESC}\\image`,
      `${ESC}_Ga=T;AAAA${ESC}\\image`,
      `${ESC}^private${ESC}\\image`,
      `${ESC}Xany${ESC}\\image`,
    ],
    ["plain", `${ESC}(B${ESC}=plain${ESC}>${ESC}7${ESC}8`, `${ESC}#8plain${ESC}c`],
    ["8 bits", "\u009b31m8 bits\u009b0m", "\u00908 bits of DCS\u009c8 bits", "\u0080\u00998 bits"],
  ]);
});

test("an incomplete sequence does not hide the text after it", () => {
  each([
    [
      "end",
      `end${ESC}`,
      `end${ESC}[`,
      `end${ESC}[31;1`,
      `end${ESC}]0;title`,
      `end${ESC}]8;;http://x${ESC}`,
      `end${ESC}(`,
    ],
    ["one\ntwo", `one${ESC}]0;never ended\ntwo`, `one${ESC}Pnever ended\ntwo`, `one${ESC}[3\ntwo`],
    ["inner", `${ESC}]0;outer${ESC}]0;nested${BEL}inner`, `${ESC}]0;outer${ESC}[31minner`],
    ["kept", `${ESC}]0;cancelled\u0018kept`, `${ESC}${ESC}[31mkept`, `${ESC}${ESC}${ESC}kept`.replace("k", "\u0007k")],
    // Doubly encoded text contains 8-bit characters that start unterminated strings.
    ["âquotedâ, and on", "â\u0080\u009dquotedâ\u0080\u009d, and on", "â\u0080\u0098quotedâ\u0080\u0099, and on"],
  ]);
});

test("shows the last state of a rewritten line", () => {
  each([
    ["100%\ndone\n", "10%\r50%\r100%\ndone\n", "10%\r\r100%\r\ndone\r\n"],
    ["ok0%", "100%\rok"],
    ["ok", `100%\r${ESC}[Kok`, `100%\r${ESC}[2Kok`, `100%${ESC}[2K\rok`, `100%${ESC}[1Gok${ESC}[0K`, "100%\rok  "],
    ["abX", "abc\bX", `abc${ESC}[DX`, `abc${ESC}[3GX`, "ab\b\b\b\b\babX"],
    ["a\nb\n", "a\r\nb\r\n", "a\r\r\nb\r\n"],
    ["   x", `abc${ESC}[1Kx`, `${ESC}[3Cx`],
    ["ad", `abcd\b\b\b${ESC}[2P`],
    ["a  bc", `abc\b\b${ESC}[2@`],
    ["a  d", `abcd\b\b\b${ESC}[2X`],
    ["[██████] 100%", "[█     ] 20%\r[███   ] 50%\r[██████] 100%"],
    ["a line\t", "a line\t"],
    ["spaces stay  \nx", `spaces stay  \n${ESC}[0mx`],
  ]);
});

test("shows the last state of a rewritten block of lines", () => {
  each([
    ["a done\nb done\n", `a 1\nb 1\n${ESC}[2A${ESC}[2Ka 2\n${ESC}[2Kb 2\n${ESC}[2A\ra done\nb done\n`],
    ["a done\nb\n", `a 1\nb\n${ESC}[2Aa done\n${ESC}[1B`, `a 1\nb${ESC}M\ra done\n\n`],
    ["a\nx", `a\nb\nc${ESC}[1F${ESC}[Jx`],
    ["over\nnext", `${ESC}[2J${ESC}[Hover${ESC}[5;1Hnext`, `over${ESC}[2Jnext`, `over${ESC}Enext`],
  ]);
});

test("makes other control characters visible or removes them", () => {
  each([
    ["ding", `di${BEL}ng`, "di\u000e\u000fng"],
    ["a␀b␁c␡", "a\0b\u0001c\u007f"],
    ["a\nb", "a\u000bb", "a\u000cb", "a\u0085b"],
    ["x\\u{202e}y\\u{2066}z", "x\u202ey\u2066z"],
    ["\\u{e0041}", "\u{e0041}"],
  ]);
});

test("keeps a long line completely, and applies changes near its end", () => {
  const long = "0123456789".repeat(1000);
  assert.equal(terminalText(`${long}${ESC}[0m\n`), `${long}\n`);
  assert.equal(terminalText(`${ESC}[1m${long}\b\bXY`), `${long.slice(0, -2)}XY`);
});

test("no escape or control character remains for any input", () => {
  const next = seeded(7);
  const parts = [
    ESC,
    ESC,
    "[",
    "]",
    "P",
    "\\",
    "31m",
    "2K",
    "5A",
    "\r",
    "\b",
    "\n",
    BEL,
    "text",
    "é",
    "😀",
    "\u009b",
    "\u009d",
    "\u009c",
    "8;;",
    "\0",
    "3C",
    "J",
    "H",
    "\u0018",
    "9P",
    "9@",
  ];
  for (let round = 0; round < 3000; round++) {
    const text = randomText(next, parts, next(60));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
    assert.doesNotMatch(terminalText(text), /[\x00-\x08\x0b-\x1f\x7f-\x9f]/, JSON.stringify(text));
  }
});

test("keeps plain lines between colored ones", () => {
  const next = seeded(8);
  for (let round = 0; round < 200; round++) {
    const lines = Array.from({ length: next(600) }, () => randomText(next, ["word ", "x", "é", "\t"], next(400)));
    assert.equal(terminalText(lines.join(`${ESC}[0m\n`)), lines.join("\n"));
  }
});

test("runs in linear time on malicious input", () => {
  const length = 1 << 20;
  const filled = (part: string, before = "") => before + part.repeat(Math.ceil(length / part.length));
  const line = "y".repeat(1000);
  const inputs = {
    escapes: filled(ESC),
    "open control sequences": filled(`${ESC}[`),
    "one open control sequence": filled("0", `${ESC}[`),
    "open strings": filled(`${ESC}]`),
    "nested strings": filled(`${ESC}]8;;${ESC}P`),
    "one open string": filled("z", `${ESC}]0;`),
    "open 8-bit strings": filled("\u009d"),
    "open 8-bit strings with lines": filled("\u0090\n"),
    returns: filled("\rx", line),
    backspaces: filled("x\b"),
    erasing: filled(`${ESC}[1K`, line),
    "moving and writing": filled(`${ESC}[2K${ESC}[999Cx`),
    inserting: filled(`${ESC}[999@`),
    lines: filled("\n", ESC),
    "up and down": filled(`\n\n${ESC}[99A`),
    "one line": filled("x", ESC),
    "blanks rewritten": filled(`${" ".repeat(990)}x\r${"z".repeat(3)}\n`),
    "control characters": filled("\u0001"),
    tags: filled("\u{e0041}"),
  };
  for (const [name, text] of Object.entries(inputs)) {
    const took = cpuMs(() => terminalText(text));
    // Linear time takes about 0.1 s; quadratic time would take many seconds.
    assert.ok(took < 2500, `${name}: ${Math.round(took)} ms`);
  }
});
