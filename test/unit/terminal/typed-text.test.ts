import assert from "node:assert/strict";
import { test } from "node:test";
import { readsCommands, shellEscape } from "../../../src/session/terminal/command-readers.ts";
import { encodePaste } from "../../../src/session/terminal/keys.ts";
import { completedLines } from "../../../src/session/terminal/typed-input.ts";

const typed = (before: string, keys: string, pasted = false) =>
  completedLines(Buffer.from(before), Buffer.from(keys), pasted);

for (const [before, keys, readings, knowable] of [
  ["", "ls\r", ["ls"], true],
  ["ls ", "-l\n", ["ls -l"], true],
  ["", "a\rb\r", ["a\nb"], true],
  ["", "a\rb", ["a"], true],
  ["", "grüße 漢字\r", ["grüße 漢字"], true],
  ["", "lss\u007f\r", ["ls", "lss"], false],
  ["rm x", "\u0015ls\r", ["ls", "rm xls"], false],
  ["rm x", "\u0003ls\r", ["ls", "rm xls"], true],
  ["one two", "\u0017three\r", ["one three", "one twothree"], false],
  ["", "\u001b[A\r", [""], false],
  ["", "ls\t\r", ["ls\t"], false],
  ["", "ls\u000f", ["ls"], true],
] as const) {
  test(`${JSON.stringify(before + keys)} is what a shell would be given: ${JSON.stringify(readings)}`, () => {
    assert.deepEqual(typed(before, keys), { readings, knowable });
  });
}

test("keys that end no line give nothing to run", () => {
  assert.equal(typed("ls\u000f", "x"), null);
  assert.equal(typed("", "ls -l"), null);
  assert.equal(typed("", ""), null);
});

test("in a paste a tab is a blank", () => {
  assert.deepEqual(typed("", "\u001b[200~if x;\tthen\ry\u001b[201~\r", true), {
    readings: ["if x;\tthen\ny"],
    knowable: true,
  });
});

test("a paste cannot be ended by what is in it", () => {
  assert.equal(encodePaste("a\nb\u001b[201~\rc", true), "\u001b[200~a\rb\rc\u001b[201~");
  assert.equal(encodePaste("a\r\nb", false), "a\rb");
});

const program = (...argv: string[]) => ({ pid: 1, program: null, argv, cwd: "/" });

test("a shell without a script takes commands from its terminal", () => {
  for (const argv of [
    ["bash"],
    ["-bash"],
    ["/bin/sh", "-i"],
    ["zsh", "-l"],
    ["bash", "--rcfile", "x"],
    ["sh", "-s"],
    ["fish"],
  ]) {
    assert.ok(readsCommands(program(...argv)), argv.join(" "));
  }
  for (const argv of [["bash", "x.sh"], ["sh", "-c", "ls"], ["bash", "-lc", "ls"], ["vim"], ["python3"], ["cat"]]) {
    assert.ok(!readsCommands(program(...argv)), argv.join(" "));
  }
  assert.ok(readsCommands({ ...program("weird name"), program: "/usr/bin/dash" }));
  assert.ok(readsCommands(program("tmux: server")));
});

for (const [argv, text, command] of [
  [["vim", "x"], ":!ls", "ls"],
  [["vi"], "hello\u001b:%!sort -u", "sort -u"],
  [["vim.basic"], ":w !sudo tee x", "sudo tee x"],
  [["vim"], ":wq!", null],
  [["vim"], "what a text!", null],
  [["less", "x"], "!id", "id"],
  [["less"], "/search!", null],
  [["gdb"], "shell id", "id"],
  [["gdb"], "print 1", null],
  [["psql"], "\\! id", "id"],
  [["sqlite3", "x"], ".shell id", "id"],
  [["ed"], "r !id", "id"],
  [["cat"], "!id", null],
] as const) {
  test(`${JSON.stringify(text)} in ${argv[0]} ${command ? `runs ${command}` : "runs nothing"}`, () => {
    assert.equal(shellEscape(program(...argv), text), command);
  });
}
