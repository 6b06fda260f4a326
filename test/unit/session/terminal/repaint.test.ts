import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Emulator } from "../../../../src/session/terminal/emulator.ts";
import { LogTerminal } from "../../../../src/session/terminal/log-terminal.ts";
import { temporaryFolder } from "../timeline-writer.ts";

const SIZE = { columns: 40, rows: 10 };

/** What somebody sees who came when `cut` bytes were written, at the end of all. */
async function seenFrom(output: Buffer, cut: number) {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "sizes"), "0 40 10\n");
  writeFileSync(join(folder.path, "output"), output.subarray(0, cut));
  const terminal = await LogTerminal.open(folder.path);
  const { columns, rows, output: opening, offset } = terminal.repaint();
  terminal.close();
  assert.deepEqual({ columns, rows }, SIZE);
  const emulator = new Emulator(SIZE);
  await emulator.feed(opening);
  await emulator.feed(output.subarray(offset));
  const screen = emulator.screen({ attributes: true });
  emulator.dispose();
  return screen;
}

async function seenFromTheStart(output: Buffer) {
  const emulator = new Emulator(SIZE);
  await emulator.feed(output);
  const screen = emulator.screen({ attributes: true });
  emulator.dispose();
  return screen;
}

test("whoever joins in the middle of a sequence or a character sees what the others see", async () => {
  const output = Buffer.from(
    "first\r\n\x1b[31mred \x1b]2;a title\x07€uro\x1b[0m\r\n\x1b[?1049h\x1b[2J\x1b[3;5Hpainted\x1b]8;;x\x1b\\\x1b[1mbold\x1b[?25l",
  );
  const whole = await seenFromTheStart(output);
  for (let cut = 0; cut <= output.length; cut++) {
    assert.deepEqual(await seenFrom(output, cut), whole, `joined after ${cut} bytes`);
  }
});

test("a string that goes on for long is not sent again to those who join in it, and not shown either", async () => {
  const long = Buffer.from(`seen\x1b]2;${"t".repeat(20_000)}`);
  const output = Buffer.concat([long, Buffer.from(`${"t".repeat(5000)}\x07 and this\x1bP${"q".repeat(9000)}`)]);
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "sizes"), "0 40 10\n");
  writeFileSync(join(folder.path, "output"), long);
  const terminal = await LogTerminal.open(folder.path);
  assert.equal(terminal.repaint().offset, long.length);
  terminal.close();
  assert.deepEqual((await seenFrom(output, long.length)).lines[0], "seen and this");
  assert.deepEqual(
    (await seenFrom(Buffer.concat([output, Buffer.from("\x1b\\!")]), output.length)).lines[0],
    "seen and this!",
  );
});

test("of what scrolled off only the last rows are drawn again", async () => {
  const emulator = new Emulator(SIZE);
  await emulator.feed(Buffer.from(Array.from({ length: 3000 }, (_, n) => `line ${n}`).join("\r\n")));
  const output = Buffer.from(emulator.repaint().output);
  assert.ok(output.includes("line 2999"));
  assert.ok(!output.includes("line 1000\x1b"));
  assert.ok(output.length < 64 * 1024);
  emulator.dispose();
});
