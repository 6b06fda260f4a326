import assert from "node:assert/strict";
import { test } from "node:test";
import { isTerminalReply } from "../../../src/text/terminal/queries.ts";

test("distinguishes terminal replies from typed input", () => {
  const answers = [
    "\x1b[?1;2c",
    "\x1b[>0;276;0c",
    "\x1b[=00000000c",
    "\x1b[0n",
    "\x1b[12;40R",
    "\x1b[?12;40;1R",
    "\x1b[1;1R",
    "\x1b[?2004;2$y",
    "\x1b[4;1$y",
    "\x1b[8;24;80t",
    "\x1b[?1u",
    "\x1b[2;1;1;128;128;1;0x",
    "\x1b[I",
    "\x1b[O",
    "\x1b]11;rgb:1e1e/1e1e/1e1e\x07",
    "\x1b]52;c;c2VjcmV0\x1b\\",
    "\x1bP>|xterm.js(5.5.0)\x1b\\",
    "\x1bP1$r0m\x1b\\",
    "\x1b[?1;2c\x1b[12;40R",
  ];
  for (const answer of answers) assert.ok(isTerminalReply(answer), JSON.stringify(answer));
  const typed = [
    "",
    "a",
    "\r",
    "\x03",
    "\x1b",
    "\x1b[A",
    "\x1bOA",
    "\x1b[1;5C",
    "\x1b[1;2R", // Shift and F3
    "\x1b[1;5R",
    "\x1bOR",
    "\x1b[15~",
    "\x1b[3;5~",
    "\x1b[<0;10;5M",
    "\x1b[<0;10;5m",
    "\x1b[200~pasted\x1b[201~",
    "\x1b[200~\x1b[12;40R\x1b[201~",
    "x\x1b[12;40R",
    "日本",
  ];
  for (const keys of typed) assert.ok(!isTerminalReply(keys), JSON.stringify(keys));
});
