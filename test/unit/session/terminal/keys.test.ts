import assert from "node:assert/strict";
import { test } from "node:test";
import { SallyportError } from "../../../../src/core/error.ts";
import { typing } from "../typing.ts";

async function bytes(keys: string[], applicationCursor = false): Promise<string> {
  const { session, written } = typing({ modes: { applicationCursor, bracketedPaste: false } });
  await session.sendKeys(keys);
  return written();
}

async function problem(...keys: string[]): Promise<SallyportError> {
  try {
    await typing().session.sendKeys(keys);
  } catch (error) {
    assert.ok(error instanceof SallyportError);
    assert.equal(error.type, "InvalidRequest");
    assert.ok(error.recovery.length > 0);
    return error;
  }
  throw new assert.AssertionError({ message: `no error for the keys ${keys}` });
}

test("encodes names, characters, modifiers and hex bytes as a terminal does", async () => {
  const table: Record<string, string> = {
    Enter: "\r",
    enter: "\r",
    Return: "\r",
    Tab: "\t",
    "S-Tab": "\x1b[Z",
    Escape: "\x1b",
    "M-Escape": "\x1b\x1b",
    Space: " ",
    "C-Space": "\0",
    Backspace: "\x7f",
    BSpace: "\x7f",
    "C-Backspace": "\b",
    Up: "\x1b[A",
    "C-Up": "\x1b[1;5A",
    "S-Home": "\x1b[1;2H",
    "C-M-S-Left": "\x1b[1;8D",
    Delete: "\x1b[3~",
    DC: "\x1b[3~",
    "M-PageUp": "\x1b[5;3~",
    NPage: "\x1b[6~",
    F1: "\x1bOP",
    "C-F1": "\x1b[1;5P",
    F5: "\x1b[15~",
    "S-F12": "\x1b[24;2~",
    F13: "\x1b[1;2P",
    F24: "\x1b[24;2~",
    a: "a",
    "-": "-",
    "+": "+",
    "^": "^",
    é: "\xc3\xa9",
    "👩‍🚀": Buffer.from("👩‍🚀").toString("latin1"),
    "C-c": "\x03",
    "C-C": "\x03",
    "Ctrl+C": "\x03",
    "^C": "\x03",
    "^[": "\x1b",
    "C-@": "\0",
    "C-\\": "\x1c",
    "C-/": "\x1f",
    "C-_": "\x1f",
    "C-?": "\x7f",
    "M-x": "\x1bx",
    "Alt-x": "\x1bx",
    "M-C-x": "\x1b\x18",
    "S-a": "A",
    "M-S-a": "\x1bA",
    "M--": "\x1b-",
    "0x1b": "\x1b",
    "0x1B5b41": "\x1b[A",
  };
  for (const [key, sent] of Object.entries(table)) assert.equal(await bytes([key]), sent, key);
  assert.equal(await bytes(["Escape", ":", "w", "q", "Enter"]), "\x1b:wq\r");
  assert.equal(await bytes([]), "");
});

test("application cursor mode changes the codes of cursor keys without modifiers", async () => {
  assert.equal(await bytes(["Up", "Home", "C-Up", "Delete"], true), "\x1bOA\x1bOH\x1b[1;5A\x1b[3~");
});

test("suggests similar names for an unknown key, with its modifiers", async () => {
  assert.deepEqual((await problem("Entr")).details.near, ["Enter"]);
  assert.match((await problem("Entr")).message, /^Unknown key: "Entr"\.$/);
  assert.deepEqual((await problem("C-Hom")).details.near, ["C-Home"]);
  assert.ok((await problem("F99")).recovery.some(({ action }) => action === "name_keys"));
});

test("rejects text as a key, and says how to type text", async () => {
  for (const text of ["ls -l", "hello", "", "C-", "\r\n", "\ud800", "0x1", "0xzz", "ab".repeat(1e5)]) {
    const { recovery, message } = await problem(text);
    assert.ok(message.length < 200);
    assert.ok(recovery.some(({ action }) => action === "write_text"));
  }
  assert.match((await problem("\x1b[2J")).message, /\\e\[2J/);
});

test("rejects a modifier that has no encoding", async () => {
  for (const key of ["C-Enter", "S-Enter", "C-1", "S-1", "C-S-c", "C-é", "C-Tab"]) {
    assert.match((await problem(key)).message, /no code/, key);
  }
});

test("accepts only a list of strings of limited length", async () => {
  for (const wrong of ["Enter", null, [1], [null], {}]) {
    await assert.rejects(typing().session.sendKeys(wrong as never), /must be a list/);
  }
  await assert.rejects(typing().session.sendKeys(Array(5000).fill("a")), /at most 4096 entries/);
});
