import assert from "node:assert/strict";
import { test } from "node:test";
import type { Screen } from "../../../../src/core/terminal.ts";
import { seeded } from "../../../fixtures/seeded.ts";
import { TestTerminal } from "../../../fixtures/test-terminal.ts";
import { randomOutput } from "./random-output.ts";

const SIZE = { columns: 40, rows: 10 };

/** Returns the final screen of a viewer that joined after `cut` bytes. */
async function seenFrom(output: Buffer, cut: number): Promise<Omit<Screen, "offset">> {
  using terminal = new TestTerminal(SIZE, output.subarray(0, cut));
  const { columns, rows, output: opening, offset } = await terminal.repaint();
  assert.deepEqual({ columns, rows }, SIZE);
  return await seenFromTheStart(Buffer.concat([opening, output.subarray(offset)]));
}

async function seenFromTheStart(output: Buffer): Promise<Omit<Screen, "offset">> {
  using terminal = new TestTerminal(SIZE, output);
  const { offset: _, ...screen } = await terminal.screen({ attributes: true });
  return screen;
}

test("a viewer that joins inside a sequence or character sees the same screen as others", async () => {
  const output = Buffer.from(
    "first\r\n\x1b[31mred \x1b]2;a title\x07€uro\x1b[0m\r\n\x1b[?1049h\x1b[2J\x1b[3;5Hpainted\x1b]8;;x\x1b\\\x1b[1mbold\x1b[?25l",
  );
  const whole = await seenFromTheStart(output);
  for (let cut = 0; cut <= output.length; cut++) {
    assert.deepEqual(await seenFrom(output, cut), whole, `joined after ${cut} bytes`);
  }
});

test("a viewer that joins inside a long string neither receives nor shows it", async () => {
  const long = Buffer.from(`seen\x1b]2;${"t".repeat(20_000)}`);
  const output = Buffer.concat([long, Buffer.from(`${"t".repeat(5000)}\x07 and this\x1bP${"q".repeat(9000)}`)]);
  using terminal = new TestTerminal(SIZE, long);
  assert.equal((await terminal.repaint()).offset, long.length);
  assert.deepEqual((await seenFrom(output, long.length)).lines[0], "seen and this");
  assert.deepEqual(
    (await seenFrom(Buffer.concat([output, Buffer.from("\x1b\\!")]), output.length)).lines[0],
    "seen and this!",
  );
});

test("repaints only the last rows of the scrollback", async () => {
  using terminal = new TestTerminal(SIZE, Array.from({ length: 3000 }, (_, n) => `line ${n}`).join("\r\n"));
  const output = Buffer.from((await terminal.repaint()).output);
  assert.ok(output.includes("line 2999"));
  assert.ok(!output.includes("line 1000\x1b"));
  assert.ok(output.length < 64 * 1024);
});

test("a viewer continues like the original terminal, for any output and cut", async () => {
  const next = seeded(7);
  let compared = 0;
  for (let round = 0; round < 150; round++) {
    // Mode 1049 is left out, because it saves the cursor position, which is the only state that is not restored.
    const output = randomOutput(next, 120, /1049/);
    const cut = next(output.length);
    // An accent after the cut would belong to the letter before it. Cut sequences are tested separately.
    if ((output[cut] ?? 0) >= 0x80 || (output[cut - 1] ?? 0) >= 0x80) continue;
    using terminal = new TestTerminal(SIZE, output.subarray(0, cut));
    if ((await terminal.repaint()).offset !== cut) continue;
    const joined = await seenFrom(output, cut);
    const whole = await seenFromTheStart(output);
    assert.deepEqual({ ...joined, attributes: [] }, { ...whole, attributes: [] }, `round ${round}`);
    compared++;
  }
  assert.ok(compared > 30);
});

test("a viewer that joins inside a full-screen program also gets the normal screen", async () => {
  const opening = "$ vim\r\n\x1b[?1049h\x1b[?1h\x1b[2;10r\x1b[2J\x1b[3;4Htext\x1b[31m";
  const output = Buffer.from(`${opening}more\x1b[?1049l\x1b[?1l\x1b[r\x1b[2;1H$ `);
  const joined = await seenFrom(output, opening.length);
  assert.deepEqual(joined, await seenFromTheStart(output));
  assert.deepEqual(joined.lines.slice(0, 2), ["$ vim", "$"]);
});
