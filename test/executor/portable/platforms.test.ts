import assert from "node:assert/strict";
import type { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findProgram } from "../../../src/executor/portable/program.ts";
import { attempts, spawnFirst } from "../../../src/executor/portable/spawn.ts";
import { environment } from "../../../src/executor/portable/start.ts";
import { Sink } from "../../../src/executor/portable/stream-file.ts";
import { bornOf, type Process, parsePs, parseStat } from "../../../src/executor/process-table.ts";
import { killProgram, membersOf } from "../../../src/executor/process-tree.ts";
import { ctlPath } from "../../../src/executor/session-owner.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-platforms-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("a process with a hostile name is read right, and a zombie is none", () => {
  const after = "S 7 42 40 0 -1 4194304 1 0 0 0 1 2 3 4 20 0 1 0 98765 0 0";
  const wanted: Process = { pid: 42, parent: 7, group: 42, session: 40, born: "98765" };
  assert.deepEqual(parseStat(`42 (sh) R 1 1 (x) ${after}`), wanted);
  assert.equal(parseStat(`42 (sh) Z${after.slice(1)}`), null);
  const threads = after.replace(" 0 1 0 98765", " 0 3 0 98765");
  assert.deepEqual(parseStat(`42 (sh) Z${threads.slice(1)}`), wanted, "its first thread has left, it runs on");
});

test("what `ps` of macOS prints is read right", () => {
  const text = [
    "    1     0     1 Ss   Sat Nov 14 10:11:12 2026    ",
    "  501     1   501 S+   Sun Nov 15 06:07:08 2026    ",
    "  502   501   501 Z    Sun Nov 15 06:07:09 2026    ",
    "garbage",
    "",
  ].join("\n");
  assert.deepEqual(parsePs(text), [
    { pid: 1, parent: 0, group: 1, session: 0, born: "Sat Nov 14 10:11:12 2026" },
    { pid: 501, parent: 1, group: 501, session: 0, born: "Sun Nov 15 06:07:08 2026" },
  ]);
});

test("this process knows when it was started, and nobody else was", () => {
  assert.match(bornOf(process.pid) ?? "", /^\d+$/);
  assert.equal(bornOf(2 ** 22 + 1), null);
});

function tree(...rows: [pid: number, parent: number, group: number, session: number, born: string][]): Process[] {
  return rows.map(([pid, parent, group, session, born]) => ({ pid, parent, group, session, born }));
}

const nobody = () => false;
const root = { pid: 100, born: "5", group: true };

test("a tree is the group, the session, who was seen before, who is marked, and the children of all these", () => {
  const all = tree(
    [1, 0, 1, 1, "0"],
    [100, 50, 100, 100, "5"],
    [101, 100, 101, 101, "6"], // left the group, still its child
    [102, 101, 101, 101, "7"],
    [103, 1, 100, 100, "7"], // lost its parent, still in the group
    [104, 1, 104, 100, "7"], // a job of its shell
    [105, 1, 105, 105, "8"], // seen before
    [106, 1, 106, 106, "8"], // marked
    [107, 1, 107, 107, "8"],
  );
  const members = membersOf(root, new Map([[105, "8"]]), all, ({ pid }) => pid === 106);
  assert.deepEqual(members.map(({ pid }) => pid).sort(), [100, 101, 102, 103, 104, 105, 106]);
});

test("a pid that is another's by now is nobody's, nor is its group", () => {
  const all = tree([100, 1, 100, 100, "99"], [101, 100, 100, 100, "99"], [105, 1, 105, 105, "99"]);
  assert.deepEqual(membersOf(root, new Map([[105, "8"]]), all, nobody), []);
});

test("without a group of its own only the descendants are a command's", () => {
  const all = tree([100, 50, 50, 50, "5"], [101, 100, 50, 50, "6"], [51, 50, 50, 50, "1"]);
  const members = membersOf({ ...root, group: false }, new Map(), all, nobody);
  assert.deepEqual(members.map(({ pid }) => pid).sort(), [100, 101]);
});

test("on Windows a tree is ended by taskkill, by force only in the end", () => {
  assert.deepEqual(killProgram(42, 15, "win32"), ["taskkill", "/PID", "42", "/T"]);
  assert.deepEqual(killProgram(42, 9, "win32"), ["taskkill", "/PID", "42", "/T", "/F"]);
  assert.equal(killProgram(42, 9, "linux"), null);
  assert.equal(killProgram(42, 9, "darwin"), null);
});

test("on Windows a session is reached by a pipe's name, the same for the same folder only", () => {
  assert.match(ctlPath("C:\\state\\sessions\\one", "win32"), /^\\\\\.\\pipe\\sallyport-[0-9a-f]{32}$/);
  assert.equal(ctlPath("C:\\State\\one", "win32"), ctlPath("c:\\state\\ONE", "win32"));
  assert.notEqual(ctlPath("C:\\state\\one", "win32"), ctlPath("C:\\state\\two", "win32"));
  assert.equal(ctlPath("/state/one", "darwin"), "/state/one/ctl");
});

test("the keeper gets what Windows needs to start programs, and nothing else of the environment", () => {
  const own = { SystemRoot: "C:\\Windows", Path: "C:\\bin", SECRET: "x", SALLYPORT_STATE: "y" };
  assert.deepEqual(environment("win32", own), { SystemRoot: "C:\\Windows", Path: "C:\\bin" });
  assert.deepEqual(environment("linux", own), {});
});

const { ENOENT, EACCES } = constants.errno;

test("a program is looked for in the folders of PATH, never in an empty one", () => {
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  for (const path of [first, second]) mkdirSync(path);
  writeFileSync(join(first, "tool"), "");
  writeFileSync(join(second, "tool"), "#!/bin/sh\n", { mode: 0o755 });
  mkdirSync(join(first, "folder"));
  assert.equal(findProgram("tool", `${first}:${second}`), join(second, "tool"));
  assert.equal(findProgram("folder", first), EACCES);
  assert.equal(findProgram("none", `${first}:${second}`), ENOENT);
  chmodSync(join(second, "tool"), 0o644);
  assert.equal(findProgram("tool", second), EACCES);
  const before = process.cwd();
  process.chdir(second);
  try {
    chmodSync(join(second, "tool"), 0o755);
    assert.equal(findProgram("tool", "::"), ENOENT);
  } finally {
    process.chdir(before);
  }
  assert.equal(findProgram("./tool", ""), "./tool");
});

test("on Windows a program's ending may be left out", () => {
  writeFileSync(join(folder, "tool.CMD"), "", { mode: 0o755 });
  assert.equal(findProgram("tool", `;${folder}`, "win32", ".EXE;.CMD"), join(folder, "tool.CMD"));
});

test("a command is started in a group of its own, else without, and what would fail again is not tried again", async () => {
  const tried: unknown[] = [];
  const failing = (code: string, until: number) =>
    ((_file: string, _args: string[], options: { detached: boolean }) => {
      tried.push(options.detached);
      if (tried.length <= until) throw Object.assign(new Error(code), { code });
      return { pid: 42 };
    }) as unknown as typeof spawn;
  const spawned = await spawnFirst("x", [], attempts({}, "darwin"), failing("EPERM", 1));
  assert.deepEqual([tried, spawned.note, spawned.detached], [[true, false], "no-group", false]);
  tried.length = 0;
  await assert.rejects(spawnFirst("x", [], attempts({}, "linux"), failing("ENOENT", 9)), { code: "ENOENT" });
  assert.deepEqual(tried, [true]);
  assert.deepEqual(
    attempts({}, "win32").map(({ options }) => options.detached),
    [false],
  );
});

test("where files keep no gaps, the head is kept and the rest counted", () => {
  const path = join(folder, "windows");
  const sink = new Sink(path, 65_536, "win32");
  for (let i = 0; i < 20; i++) {
    sink.append(Buffer.alloc(10_000, i));
    assert.equal(sink.growHole(), false);
  }
  sink.close();
  assert.deepEqual([sink.size, sink.lost, statSync(path).size], [65_536, 200_000 - 65_536, 65_536]);
  assert.equal(readFileSync(path)[65_535], 6);
});
