import assert from "node:assert/strict";
import { test } from "node:test";
import { membersOf, type Process, parsePs, parseStat, startTimeOf } from "../../../src/executor/processes.ts";

test("parses /proc/<pid>/stat with any process name, and ignores zombies", () => {
  const after = "S 7 42 40 34816 43 4194304 1 0 0 0 1 2 3 4 20 0 1 0 98765 0 0";
  const ids = { pid: 42, parent: 7, group: 42, session: 40 };
  const wanted: Process = { ...ids, born: "98765", terminal: 34816, foreground: 43 };
  assert.deepEqual(parseStat(`42 (sh) R 1 1 (x) ${after}`), wanted);
  assert.equal(parseStat(`42 (sh) ${after.replace("34816 43", "0 -1")}`)?.foreground, 0);
  assert.equal(parseStat(`42 (sh) Z${after.slice(1)}`), null);
  const threads = after.replace(" 0 1 0 98765", " 0 3 0 98765");
  assert.deepEqual(parseStat(`42 (sh) Z${threads.slice(1)}`), wanted, "a process runs until its last thread exits");
});

test("parses the output of `ps` on macOS", () => {
  const text = [
    "    1     0     1 Ss   Sat Nov 14 10:11:12 2026    ",
    "  501     1   501 S+   Sun Nov 15 06:07:08 2026    ",
    "  502   501   501 Z    Sun Nov 15 06:07:09 2026    ",
    "garbage",
    "",
  ].join("\n");
  assert.deepEqual(parsePs(text), [
    { pid: 1, parent: 0, group: 1, session: 0, born: "Sat Nov 14 10:11:12 2026", terminal: 0, foreground: 0 },
    { pid: 501, parent: 1, group: 501, session: 0, born: "Sun Nov 15 06:07:08 2026", terminal: 0, foreground: 0 },
  ]);
});

test("returns a start time only for a running process", () => {
  assert.match(startTimeOf(process.pid) ?? "", /^\d+$/);
  assert.equal(startTimeOf(2 ** 22 + 1), null);
});

function table(...rows: [pid: number, parent: number, group: number, session: number, born: string][]): Process[] {
  return rows.map(([pid, parent, group, session, born]) => {
    return { pid, parent, group, session, born, terminal: 0, foreground: 0 };
  });
}

const root = { pid: 100, born: "5" };

test("a process tree includes the group, the session, members seen before, marked processes and all descendants", () => {
  const all = table(
    [1, 0, 1, 1, "0"],
    [100, 50, 100, 100, "5"],
    [101, 100, 101, 101, "6"], // left the group, still a child
    [102, 101, 101, 101, "7"],
    [103, 1, 100, 100, "7"], // lost its parent, still in the group
    [104, 1, 104, 100, "7"], // a job of an interactive shell
    [105, 1, 105, 105, "8"], // seen before
    [106, 1, 106, 106, "8"], // marked
    [107, 1, 107, 107, "8"],
  );
  const members = membersOf(root, new Map([[105, "8"]]), all, ({ pid }) => pid === 106);
  assert.deepEqual(members.map(({ pid }) => pid).sort(), [100, 101, 102, 103, 104, 105, 106]);
});

test("a process tree excludes a process that reuses a PID, and its group", () => {
  const all = table([100, 1, 100, 100, "99"], [101, 100, 100, 100, "99"], [105, 1, 105, 105, "99"]);
  assert.deepEqual(
    membersOf(root, new Map([[105, "8"]]), all, () => false),
    [],
  );
});
