import assert from "node:assert/strict";
import { test } from "node:test";
import { Emulator } from "../../../../src/session/terminal/emulator.ts";
import { ModeTracker } from "../../../../src/session/terminal/mode-tracker.ts";

const MANY = 2_147_483_647;

/** Each would take minutes or gigabytes if it were taken at its word. */
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

test("no output takes more time or memory than its length", async () => {
  for (const [name, flood] of Object.entries(FLOODS)) {
    const emulator = new Emulator({ columns: 80, rows: 24 });
    const before = process.memoryUsage().rss;
    const cpu = process.cpuUsage();
    await emulator.feed(Buffer.from(`${flood}\x1b\\`));
    await emulator.feed(Buffer.from("\x1b[H\x1b[2J\x1b[mstill here"));
    const { user } = process.cpuUsage(cpu);
    assert.equal(emulator.screen().lines[0], "still here", name);
    assert.deepEqual(emulator.size, { columns: 80, rows: 24 }, name);
    assert.ok(emulator.screen().title.length < 300, name);
    assert.ok(user < 20_000_000, `${name} took ${user} µs of CPU time`);
    assert.ok(process.memoryUsage().rss - before < 300e6, `${name} took much memory`);
    emulator.dispose();
  }
});

test("characters that join without end do not fill a cell without end", async () => {
  const emulator = new Emulator({ columns: 80, rows: 4 });
  await emulator.feed(Buffer.from(`e${"\u0301".repeat(5000)}`));
  const runs = emulator.screen({ attributes: true }).attributes?.flat() ?? [];
  assert.ok(runs.length > 100);
  for (const { text } of runs) assert.ok(text.length < 64);
});

test("modes are followed through broken, cut and endless sequences", () => {
  const state = (output: string) => {
    const tracker = new ModeTracker();
    for (const byte of Buffer.from(output)) tracker.push(Uint8Array.of(byte));
    const whole = new ModeTracker();
    whole.push(Buffer.from(output));
    assert.deepEqual(Buffer.from(tracker.prelude()), Buffer.from(whole.prelude()), "byte by byte as at once");
    return { visible: whole.cursorVisible, settled: whole.isSettled };
  };
  assert.deepEqual(state("\x1b[?25l"), { visible: false, settled: true });
  assert.deepEqual(state("\u009b?25l"), { visible: false, settled: true });
  assert.deepEqual(state("\x1b[?25\x18l"), { visible: true, settled: true });
  assert.deepEqual(state("\x1b[?2\x1b[?25l"), { visible: false, settled: true });
  assert.deepEqual(state("\x1b]0;\x1b[?25l\x07"), { visible: false, settled: true });
  assert.deepEqual(state("\x1b]0;[?25l"), { visible: true, settled: false });
  assert.deepEqual(state(`\x1b[${"1".repeat(5000)};?25l`), { visible: true, settled: true });
  assert.deepEqual(state("\x1b[?25l\x1bc"), { visible: true, settled: true });
  assert.deepEqual(state("日本\x1b[?25l日"), { visible: false, settled: true });
  const prelude = new ModeTracker();
  prelude.push(Buffer.from("\x1b[31m".repeat(1e5) + "\x1b[?1h\x1b[?2h\x1b[?3h".repeat(1e4)));
  for (let mode = 0; mode < 5000; mode++) prelude.push(Buffer.from(`\x1b[?${mode}h`));
  assert.ok(prelude.prelude().length < 4096);
});
