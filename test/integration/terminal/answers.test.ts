import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

/** Writes what it is given to its terminal and prints, in hex, what comes back within `dd`'s one read. */
const ASK = fixture.path("ask.sh");
writeFileSync(
  ASK,
  `stty raw -echo; printf "$1"; answer=$(dd bs=200 count=1 2>/dev/null | od -An -tx1 | tr -d ' \\n'); stty sane; echo; echo "<$answer>"\n`,
);

async function ask(question: string, size = { columns: 80, rows: 24 }): Promise<string> {
  const request = { command: "bash", args: [ASK, question], pty: true, size, timeoutMs: 60_000 };
  const { output, status } = await gateway.run(request);
  assert.equal(status, "completed", "nobody answered");
  return Buffer.from(/<([0-9a-f]*)>/.exec(output)?.[1] ?? "", "hex").toString("latin1");
}

for (const [what, question, answer] of [
  ["what it is", "\\e[c", "\x1b[?1;2c"],
  ["what it is, in another form", "\\e[0c", "\x1b[?1;2c"],
  ["which version it is", "\\e[>c", "\x1b[>0;10;0c"],
  ["its name", "\\e[>0q", "\x1bP>|sallyport\x1b\\"],
  ["whether it is well", "\\e[5n", "\x1b[0n"],
  ["where the cursor is, at first", "\\e[6n", "\x1b[1;1R"],
  ["where the cursor is, after a text", "ab\\r\\ncde\\e[6n", "\x1b[2;4R"],
  ["where the cursor is, after it was placed", "\\e[7;31H\\e[6n", "\x1b[7;31R"],
  ["how far the cursor can go", "\\e[999;999H\\e[6n", "\x1b[24;80R"],
  ["how far it has scrolled", "\\e[24;1H\\n\\n\\n\\e[6n", "\x1b[24;1R"],
  ["where a long line ends", `${"x".repeat(85)}\\e[6n`, "\x1b[2;6R"],
  ["how wide a character is", "漢😀e\u0301\\e[6n", "\x1b[1;6R"],
  ["where the cursor was saved", "\\e[5;5H\\e7\\e[H\\e8\\e[6n", "\x1b[5;5R"],
  ["where the cursor is, after a full line and a line feed", `${"x".repeat(80)}\\ny\\e[6n`, "\x1b[2;80R"],
  ["where the cursor is, after a full line and the next line", `${"x".repeat(80)}\\eEy\\e[6n`, "\x1b[2;2R"],
  ["where the cursor is, after a full line and a backspace", `${"x".repeat(80)}\\b\\e[6n`, "\x1b[1;79R"],
  ["where the cursor is, after a soft reset", "\\e[5;5H\\e[!p\\e[6n", "\x1b[5;5R"],
  ["where the cursor is, after a line was inserted", "\\e[5;5H\\e[L\\e[6n", "\x1b[5;1R"],
  ["how far down the cursor goes in a scroll region", "\\e[3;7r\\e[99B\\e[6n", "\x1b[7;1R"],
  ["where the cursor is, after a repeated character", "漢\\e[40b\\e[6n", "\x1b[2;3R"],
  ["the colour behind the text", "\\e]11;?\\e\\\\", "\x1b]11;rgb:0000/0000/0000\x1b\\"],
  ["the colour of the text, ended by a bell", "\\e]10;?\\a", "\x1b]10;rgb:e5e5/e5e5/e5e5\x07"],
  ["a colour of the palette", "\\e]4;196;?\\a", "\x1b]4;196;rgb:ffff/0000/0000\x07"],
  ["how large it is", "\\e[18t", "\x1b[8;24;80t"],
  ["whether a mode is on", "\\e[?2026$p", "\x1b[?2026;0$y"],
  ["a setting", "\\eP$qm\\e\\\\", "\x1bP0$r\x1b\\"],
  ["two things at once", "\\e[5n\\e[6n", "\x1b[0n\x1b[1;1R"],
] as const) {
  test(`a program that asks its terminal ${what} gets an answer with nobody attached`, async () => {
    assert.equal(await ask(question), answer);
  });
}

test("the cursor is where it is after a resize", async () => {
  assert.equal(await ask("\\e[999;999H\\e[6n", { columns: 33, rows: 7 }), "\x1b[7;33R");
});

test("garbage on a terminal is kept as it is, and answered or not, but never harms", async () => {
  // Without an echo: the answers to what the garbage happens to ask would be in the log as well, wherever they come.
  const noise = "head -c 400000 /dev/urandom | tr -d '\\n' > noise";
  const command = `${noise}; stty raw -echo; cat noise; stty sane -echo; echo end`;
  const { id } = await gateway.run({ command, pty: true, timeoutMs: 60_000 });
  assert.match((await gateway.session(id).logs({ tail: 1 })).text, /end\r\n$/);
  assert.ok((gateway.session(id).info().streams.output?.bytes ?? 0) > 390_000);
});

test("a flood of repeated characters does not delay the timeout", async () => {
  const start = Date.now();
  const { status } = await gateway.run({ command: "yes $'x\\e[65535b'", pty: true, timeoutMs: 1000 });
  assert.equal(status, "timed_out");
  assert.ok(Date.now() - start < 15_000, `it took ${Date.now() - start} ms`);
});
