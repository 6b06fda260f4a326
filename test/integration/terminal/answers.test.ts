import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { GatewayFixture } from "../../fixtures/gateway.ts";

const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(() => fixture.close());

/** A script that writes its argument to the terminal and prints the reply in hex, as far as one read returns it. */
const ASK = fixture.path("ask.sh");
writeFileSync(
  ASK,
  `stty raw -echo; printf "$1"; answer=$(dd bs=200 count=1 2>/dev/null | od -An -tx1 | tr -d ' \\n'); stty sane; echo; echo "<$answer>"\n`,
);

async function ask(question: string, size = { columns: 80, rows: 24 }): Promise<string> {
  const request = { command: "bash", args: [ASK, question], pty: true, size, timeoutMs: 60_000 };
  const { output, status } = await gateway.run(request);
  assert.equal(status, "completed", "the program received no reply");
  return Buffer.from(/<([0-9a-f]*)>/.exec(output)?.[1] ?? "", "hex").toString("latin1");
}

for (const [what, query, reply] of [
  ["device attributes", "\\e[c", "\x1b[?1;2c"],
  ["device attributes with a parameter", "\\e[0c", "\x1b[?1;2c"],
  ["secondary device attributes", "\\e[>c", "\x1b[>0;10;0c"],
  ["the terminal's name and version", "\\e[>0q", "\x1bP>|sallyport\x1b\\"],
  ["the device status", "\\e[5n", "\x1b[0n"],
  ["the initial cursor position", "\\e[6n", "\x1b[1;1R"],
  ["the cursor position after text", "ab\\r\\ncde\\e[6n", "\x1b[2;4R"],
  ["the cursor position after positioning", "\\e[7;31H\\e[6n", "\x1b[7;31R"],
  ["the cursor position at the lower right corner", "\\e[999;999H\\e[6n", "\x1b[24;80R"],
  ["the cursor position after scrolling", "\\e[24;1H\\n\\n\\n\\e[6n", "\x1b[24;1R"],
  ["the cursor position after a wrapped line", `${"x".repeat(85)}\\e[6n`, "\x1b[2;6R"],
  ["the cursor position after wide characters", "漢😀e\u0301\\e[6n", "\x1b[1;6R"],
  ["the cursor position after restoring it", "\\e[5;5H\\e7\\e[H\\e8\\e[6n", "\x1b[5;5R"],
  ["the cursor position after a full line and a line feed", `${"x".repeat(80)}\\ny\\e[6n`, "\x1b[2;80R"],
  ["the cursor position after a full line and a next-line control", `${"x".repeat(80)}\\eEy\\e[6n`, "\x1b[2;2R"],
  ["the cursor position after a full line and a backspace", `${"x".repeat(80)}\\b\\e[6n`, "\x1b[1;79R"],
  ["the cursor position after a soft reset", "\\e[5;5H\\e[!p\\e[6n", "\x1b[5;5R"],
  ["the cursor position after inserting a line", "\\e[5;5H\\e[L\\e[6n", "\x1b[5;1R"],
  ["the cursor position at the end of a scroll region", "\\e[3;7r\\e[99B\\e[6n", "\x1b[7;1R"],
  ["the cursor position after a repeated character", "漢\\e[40b\\e[6n", "\x1b[2;3R"],
  ["the background color", "\\e]11;?\\e\\\\", "\x1b]11;rgb:0000/0000/0000\x1b\\"],
  ["the text color, terminated by a bell", "\\e]10;?\\a", "\x1b]10;rgb:e5e5/e5e5/e5e5\x07"],
  ["a palette color", "\\e]4;196;?\\a", "\x1b]4;196;rgb:ffff/0000/0000\x07"],
  ["the terminal size", "\\e[18t", "\x1b[8;24;80t"],
  ["a mode", "\\e[?2026$p", "\x1b[?2026;0$y"],
  ["a setting", "\\eP$qm\\e\\\\", "\x1bP0$r\x1b\\"],
  ["two values at once", "\\e[5n\\e[6n", "\x1b[0n\x1b[1;1R"],
] as const) {
  test(`a program that queries ${what} gets a reply without an attached viewer`, async () => {
    assert.equal(await ask(query), reply);
  });
}

test("reports the cursor position after a resize", async () => {
  assert.equal(await ask("\\e[999;999H\\e[6n", { columns: 33, rows: 7 }), "\x1b[7;33R");
});

test("garbage written to a terminal is logged, and the session ends normally", async () => {
  // Echo is off, because otherwise replies to queries in the garbage would be in the log as well.
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
  assert.ok(Date.now() - start < 15_000, `the session took ${Date.now() - start} ms`);
});
