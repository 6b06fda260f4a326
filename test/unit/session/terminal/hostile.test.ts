import assert from "node:assert/strict";
import { test } from "node:test";
import { screenAfter, TestTerminal } from "../../../fixtures/test-terminal.ts";

const MANY = 2_147_483_647;

/** Outputs that would take minutes or gigabytes if their counts were followed literally. */
const FLOODS: Record<string, string> = {
  scroll: `x\x1b[${MANY}S\x1b[${MANY}T`,
  lines: `x\x1b[${MANY}L\x1b[${MANY}M`,
  tabs: `x\x1b[${MANY}I\x1b[${MANY}Z`,
  repeat: `x\x1b[${MANY}b`,
  characters: `x\x1b[${MANY}@\x1b[${MANY}P\x1b[${MANY}X`,
  moves: `\x1b[${MANY};${MANY}H\x1b[${MANY}A\x1b[${MANY}C`,
  size: `\x1b[8;${MANY};${MANY}t\x1b[?3h`,
  parameters: `\x1b[${"1;".repeat(100_000)}m`,
  title: `\x1b]2;${"T".repeat(3_000_000)}\x07`,
  "title without an end": `\x1b]2;${"T".repeat(1_000_000)}`,
  clipboard: `\x1b]52;c;${"QUJD".repeat(300_000)}\x07`,
  sixel: `\x1bPq${"#0;2;0;0;0~-".repeat(100_000)}\x1b\\`,
  accents: `e${"\u0301".repeat(300_000)}`,
  family: `👩${"\u200d👩".repeat(50_000)}`,
  hangul: "\u1100".repeat(200_000),
  links: "\x1b]8;;http://example.test\x07x".repeat(50_000),
  clearing: "\x1b[2J".repeat(5_000),
  resets: "\x1bc".repeat(500),
};

test("time and memory are proportional to the length of any output", async () => {
  for (const [name, flood] of Object.entries(FLOODS)) {
    using terminal = new TestTerminal({ columns: 80, rows: 24 });
    const before = process.memoryUsage().rss;
    const cpu = process.cpuUsage();
    terminal.write(`${flood}\x1b\\`);
    await terminal.screen();
    terminal.write("\x1b[H\x1b[2J\x1b[mstill here");
    const { lines, columns, rows, title } = await terminal.screen();
    const { user } = process.cpuUsage(cpu);
    assert.equal(lines[0], "still here", name);
    assert.deepEqual({ columns, rows }, { columns: 80, rows: 24 }, name);
    assert.ok(title.length < 300, name);
    assert.ok(user < 20_000_000, `${name} took ${user} µs of CPU time`);
    assert.ok(process.memoryUsage().rss - before < 300e6, `${name} used too much memory`);
  }
});

test("erasing up to the cursor in the last cell erases the screen", async () => {
  for (const erase of ["\x1b[1J", "\x1b[?1J"]) {
    const { lines } = await screenAfter(`text\x1b[99;99Hx${erase}\x1b[Hstill here`);
    assert.deepEqual(lines, ["still here", "", "", ""]);
  }
});

test("limits the number of characters joined in one cell", async () => {
  const { attributes } = await screenAfter(`e${"\u0301".repeat(5000)}`, { columns: 80, rows: 4 });
  const runs = attributes?.flat() ?? [];
  assert.ok(runs.length > 100);
  for (const { text } of runs) assert.ok(text.length < 64);
});

test("tracks modes through broken, truncated and endless sequences", async () => {
  const cases: [output: string, visible: boolean, complete: boolean][] = [
    ["\x1b[?25l", false, true],
    ["\u009b?25l", false, true],
    ["\x1b[?25\x18l", true, true],
    ["\x1b[?2\x1b[?25l", false, true],
    ["\x1b]0;\x1b[?25l\x07", false, true],
    ["\x1b]0;[?25l", true, false],
    [`\x1b[${"1".repeat(5000)};?25l`, true, true],
    ["\x1b[?25l\x1bc", true, true],
    ["日本\x1b[?25l日", false, true],
  ];
  for (const [output, visible, complete] of cases) {
    using whole = new TestTerminal({ columns: 80, rows: 4 }, output);
    const what = JSON.stringify(output.slice(0, 40));
    assert.equal((await whole.screen()).cursor.visible, visible, what);
    // Bytes of an incomplete sequence are sent with the output that follows.
    assert.equal((await whole.repaint()).offset === Buffer.byteLength(output), complete, what);
    if (output.length > 100) continue;
    using parts = new TestTerminal({ columns: 80, rows: 4 });
    for (const byte of Buffer.from(output)) {
      parts.write(Uint8Array.of(byte));
      await parts.screen();
    }
    assert.deepEqual(await parts.repaint(), await whole.repaint(), `${what}: written byte by byte and at once`);
  }
});

test("limits the modes and colors that are kept", async () => {
  const modes = Array.from({ length: 5000 }, (_, mode) => `\x1b[?${mode}h`).join("");
  using terminal = new TestTerminal(
    { columns: 80, rows: 4 },
    "\x1b[31m".repeat(1e4) + "\x1b[?1h\x1b[?2h\x1b[?3h".repeat(1e3) + modes,
  );
  assert.ok((await terminal.repaint()).output.length < 4096);
});
