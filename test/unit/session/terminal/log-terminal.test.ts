import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Screen } from "../../../../src/core/terminal.ts";
import { LocalSessionReader } from "../../../../src/session/session-folder.ts";
import { TestTerminal } from "../../../fixtures/test-terminal.ts";
import { temporaryFolder, writeLog } from "../timeline-writer.ts";

const SIZE = { columns: 80, rows: 24 };

function folderWith(output: string | Uint8Array, sizes = "0 80 24\n") {
  const folder = temporaryFolder();
  writeFileSync(join(folder.path, "output"), output);
  writeFileSync(join(folder.path, "sizes"), sizes);
  return folder;
}

const SESSION = { id: "1", name: "one" };
const ALL = { attributes: true, scrollback: true };

/** Renders the screen from the log, as a gateway without a cached terminal does. */
async function screenOf(folder: string): Promise<Screen> {
  const reader = new LocalSessionReader();
  try {
    return await reader.open({ id: "1", capture: "merged" }, folder, () => null).screen(SESSION, ALL);
  } finally {
    reader.close();
  }
}

/** Renders the same output completely, without skipping. */
async function drawnWhole(output: Uint8Array): Promise<Screen> {
  using terminal = new TestTerminal(SIZE);
  for (let at = 0; at < output.length; at += 500_000) {
    terminal.write(output.subarray(at, at + 500_000));
    await terminal.screen();
  }
  return await terminal.screen(ALL);
}

test("rebuilds a screen from the log and follows its growth", async () => {
  using terminal = new TestTerminal(SIZE, "hello\r\n");
  const first = await terminal.screen();
  assert.deepEqual([first.lines.slice(0, 2), first.offset], [["hello", ""], 7]);
  terminal.write("world\x1b[");
  await terminal.screen();
  terminal.write("31m!");
  assert.deepEqual((await terminal.screen()).lines.slice(0, 2), ["hello", "world!"]);
});

test("a session without output has an empty screen", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "sizes"), "0 120 30\n");
  const { columns, rows, lines, offset } = await screenOf(folder.path);
  assert.deepEqual({ columns, rows, offset }, { columns: 120, rows: 30, offset: 0 });
  assert.deepEqual(lines, Array(30).fill(""));
});

test("draws output at the size the terminal had at that time", async () => {
  // The text is wrapped at 10 columns, then at 20, because the terminal reflows earlier lines.
  using folder = folderWith("abcdefghijklmno\r\n\x1b[5;15Hx", "0 10 5\n17 20 6\n");
  const { columns, rows, lines } = await screenOf(folder.path);
  assert.deepEqual({ columns, rows }, { columns: 20, rows: 6 });
  assert.deepEqual(lines, ["abcdefghijklmno", "", "", "", "              x", ""]);
});

test("skipping most plain lines gives the same screen as drawing all", async () => {
  const lines = Array.from({ length: 120_000 }, (_, n) => `\x1b[3${n % 8}mline ${n}\x1b[0m of a long output`);
  const output = Buffer.from(`\x1b]2;title\x07\x1b[?1h${lines.join("\r\n")}\r\n$ `);
  assert.ok(output.length > 3e6);
  using folder = folderWith(output);
  const whole = await drawnWhole(output);
  assert.deepEqual(await screenOf(folder.path), whole);
});

test("draws a long full-screen output from its last megabytes, with modes set earlier", async () => {
  const frame = (n: number) =>
    Array.from({ length: 24 }, (_, row) => `\x1b[${row + 1};1H\x1b[3${(n + row) % 8}mframe ${n} row ${row}\x1b[K`).join(
      "",
    );
  const frames = Array.from({ length: 12_000 }, (_, n) => frame(n));
  const output = Buffer.from(`before\r\n\x1b[?1049h\x1b[?25l\x1b[?1h\x1b]0;painter\x07${frames.join("")}`);
  assert.ok(output.length > 8e6);
  using folder = folderWith(output);
  const seen = await screenOf(folder.path);
  assert.deepEqual(
    seen.lines,
    Array.from({ length: 24 }, (_, row) => `frame 11999 row ${row}`),
  );
  assert.deepEqual(
    { title: seen.title, alternate: seen.alternate, visible: seen.cursor.visible, keys: seen.modes.applicationCursor },
    { title: "painter", alternate: true, visible: false, keys: true },
  );
});

const LONG = Buffer.from(`${"a line that is drawn, and colorful \x1b[32mgreen\x1b[m\x1b[K\r\n".repeat(90_000)}the end`);

test("uses a checkpoint instead of drawing the log again, and ignores a damaged one", async () => {
  using folder = folderWith(LONG);
  const first = await screenOf(folder.path);
  const path = join(folder.path, "screen");
  assert.ok(existsSync(path));
  const good = readFileSync(path);
  assert.ok(good.length < 4 << 20);
  // The screen must come from the checkpoint alone, so the log is overwritten with zeros.
  writeFileSync(join(folder.path, "output"), Buffer.alloc(LONG.length));
  assert.deepEqual((await screenOf(folder.path)).lines, first.lines);
  writeFileSync(join(folder.path, "output"), LONG);
  const flipped = Buffer.from(good);
  flipped.writeUInt8((flipped.at(-9) ?? 0) ^ 1, flipped.length - 9);
  const header = (fields: object) => Buffer.from(`${JSON.stringify(fields)}\nx`);
  const damaged: Buffer[] = [
    Buffer.alloc(0),
    good.subarray(0, 100),
    good.subarray(0, good.length - 1),
    flipped,
    Buffer.alloc(5 << 20, 10),
    Buffer.from(good.toString("latin1").replace(/"offset":\d+/, '"offset":12'), "latin1"),
    header({ version: 1, offset: -1, columns: 80, rows: 24, sha256: "" }),
    header({ version: 1, offset: 1, columns: 1e9, rows: 1e9, sha256: "" }),
  ];
  for (const bytes of damaged) {
    writeFileSync(path, bytes);
    assert.deepEqual(await screenOf(folder.path), first);
  }
});

test("ignores a checkpoint past the end of the log", async () => {
  using folder = folderWith(LONG);
  await screenOf(folder.path);
  truncateSync(join(folder.path, "output"), 50);
  assert.match((await screenOf(folder.path)).lines[0] ?? "", /^a line that is drawn/);
});

test("skips a hole, and cancels an escape sequence that the hole cut off", async () => {
  using folder = temporaryFolder();
  const head = "head\r\n\x1b]2;never en";
  const tail = "tail\r\nend";
  const middle = 8192 - head.length;
  const data = `${head}${"x".repeat(middle)}${tail}`;
  writeLog(folder.path, "merged", [{ stream: 0, data }], { holes: [[head.length, 8192], [0, 0]] }); // biome-ignore format: one line
  writeFileSync(join(folder.path, "sizes"), "0 80 24\n");
  const { lines, title, offset } = await screenOf(folder.path);
  assert.deepEqual(lines.slice(0, 3), ["head", "tail", "end"]);
  assert.deepEqual({ title, offset }, { title: "", offset: 8192 + tail.length });
});

test("skips most of an output that is slow to draw", async () => {
  const slow = Buffer.from(`${"\x1b[?1049h\x1b[?1049l".repeat(300_000)}\x1b[2J\x1b[Hstill here`);
  using folder = folderWith(slow, "0 400 200\n");
  const cpu = process.cpuUsage();
  assert.equal((await screenOf(folder.path)).lines[0], "still here");
  assert.ok(process.cpuUsage(cpu).user < 60e6);
});

test("keeps a limited number of terminals, each with one caller at a time", async () => {
  const reader = new LocalSessionReader();
  const folders = Array.from({ length: 12 }, (_, n) => folderWith(`session ${n}`));
  const look = async (n: number) => {
    const data = reader.open({ id: `s${n}`, capture: "merged" }, folders[n]?.path ?? "", () => null);
    return (await data.screen({ id: `s${n}`, name: "" }, {})).lines[0];
  };
  for (let round = 0; round < 3; round++) {
    const seen = await Promise.all(folders.flatMap((_, n) => [look(n), look(n)]));
    assert.deepEqual(
      seen,
      folders.flatMap((_, n) => [`session ${n}`, `session ${n}`]),
    );
  }
  const output = join(folders[1]?.path ?? "", "output");
  reader.forget("s1");
  rmSync(output);
  mkdirSync(output);
  await assert.rejects(look(1), { code: "EISDIR" });
  rmdirSync(output);
  writeFileSync(output, "session 1");
  assert.equal(await look(1), "session 1");
  reader.close();
  for (const folder of folders) folder[Symbol.dispose]();
});
