import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { terminalOutput } from "../../../src/session/result.ts";
import { temporaryFolder } from "./timeline-writer.ts";

async function shown(output: string): Promise<string | undefined> {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "output"), output);
  writeFileSync(join(folder.path, "sizes"), "0 40 6\n");
  return (await terminalOutput(folder.path))?.output;
}

test("lines come as lines, in their last state", async () => {
  assert.equal(await shown("a\r\n10%\r100%\r\n\x1b[31mred\x1b[0m\r\n"), "a\n100%\nred\n");
  assert.equal(await shown(`${"long ".repeat(20)}\r\n`), `${"long ".repeat(20)}\n`, "without breaks at the edge");
  assert.equal(await shown("\x1b[H\x1b[2J\x1b[3Jcleared first\r\n"), "cleared first\n");
  assert.equal(await shown(""), "");
});

test("of what was painted the last picture is left, with what scrolled off", async () => {
  const frames = Array.from({ length: 50 }, (_, n) => `\x1b[H\x1b[Jframe ${n}\r\nload ${n}\r\n`).join("");
  assert.equal(await shown(`started\r\n${frames}`), "frame 49\nload 49\n");
  assert.equal(await shown("$ vim x\r\n\x1b[?1049h\x1b[2J\x1b[Htext\x1b[?1049lwritten\r\n"), "$ vim x\nwritten\n");
  assert.equal(await shown("\x1b[?1049h\x1b[Hmenu\r\n> one"), "menu\n> one\n", "killed in the middle");
  const many = Array.from({ length: 100 }, (_, n) => `line ${n}`).join("\r\n");
  assert.equal(
    await shown(`${many}\x1b[5;1Hover\x1b[6;1H`),
    `${many.replaceAll("\r", "").replace("line 98", "over 98")}\n`,
  );
});

test("an output of pipes is left alone", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "output"), "x\r\n");
  assert.equal(await terminalOutput(folder.path), null);
  writeFileSync(join(folder.path, "sizes"), "pipes ptmx 2\n");
  assert.equal(await terminalOutput(folder.path), null);
});
