import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectInput } from "../../../../src/shell/inspect-input.ts";
import { program, typing } from "../typing.ts";

/** Returns the lines that a shell would run after these keys. */
async function typed(before: string, keys: string): Promise<{ readings: string[]; knowable: boolean } | null> {
  const { session, authorized } = typing({ typed: Buffer.from(before) });
  await session.write(keys);
  const [first] = authorized;
  return first ? { readings: authorized.map(({ text }) => text), knowable: first.knowable } : null;
}

/** Returns the first command that these keys would run in a shell or through this program. */
async function commandIn(foreground: ReturnType<typeof program>, keys: string): Promise<string | null> {
  const { session, authorized } = typing({ foreground });
  await session.write(keys);
  const [first] = authorized;
  if (!first?.reader) return null;
  const [command = "", ...args] = first.reader;
  const lookup = { which: () => null, realpath: () => null };
  const [run] = inspectInput({ command, args }, first.text, { cwd: "/", home: "/", workspace: "/", lookup }).commands;
  return run ? run.argv.map(({ value }) => value).join(" ") : null;
}

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
  test(`${JSON.stringify(before + keys)} is read by a shell as ${JSON.stringify(readings)}`, async () => {
    assert.deepEqual(await typed(before, keys), { readings, knowable });
  });
}

test("keys that do not end a line run nothing", async () => {
  assert.equal(await typed("ls\u000f", "x"), null);
  assert.equal(await typed("", "ls -l"), null);
  assert.equal(await typed("", ""), null);
});

test("a tab in a paste is a blank", async () => {
  const { session, authorized, written } = typing({ modes: { applicationCursor: false, bracketedPaste: true } });
  await session.paste("if x;\tthen\ny", { submit: true });
  assert.equal(written(), "\u001b[200~if x;\tthen\ry\u001b[201~\r");
  assert.deepEqual(authorized, [{ text: "if x;\tthen\ny", reader: ["bash"], cwd: "/", knowable: true }]);
});

test("the pasted text cannot end the paste", async () => {
  const marked = typing({ modes: { applicationCursor: false, bracketedPaste: true } });
  await marked.session.paste("a\nb\u001b[201~\rc");
  assert.equal(marked.written(), "\u001b[200~a\rb\rc\u001b[201~");
  const plain = typing();
  await plain.session.paste("a\r\nb");
  assert.equal(plain.written(), "a\rb");
});

test("an interactive shell reads commands from its terminal", async () => {
  for (const argv of [
    ["bash"],
    ["-bash"],
    ["/bin/sh", "-i"],
    ["zsh", "-l"],
    ["bash", "--rcfile", "x"],
    ["sh", "-s"],
    ["fish"],
  ]) {
    assert.equal(await commandIn(program(...argv), "x\r"), "x", argv.join(" "));
  }
  for (const argv of [["bash", "x.sh"], ["sh", "-c", "ls"], ["bash", "-lc", "ls"], ["vim"], ["python3"], ["cat"]]) {
    assert.equal(await commandIn(program(...argv), "x\r"), null, argv.join(" "));
  }
  assert.equal(await commandIn({ ...program("weird name"), program: "/usr/bin/dash" }, "x\r"), "x");
  assert.equal(await commandIn(program("tmux: server"), "x\r"), "x");
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
  test(`${JSON.stringify(text)} in ${argv[0]} ${command ? `runs ${command}` : "runs nothing"}`, async () => {
    assert.equal(await commandIn(program(...argv), `${text}\r`), command);
  });
}
