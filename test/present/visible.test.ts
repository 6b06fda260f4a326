import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine } from "../../src/present/command-line.ts";
import { visible } from "../../src/present/visible.ts";

test("what would act on a terminal, or not be seen, is written out", () => {
  assert.equal(visible("a\tb\nc\r"), "a\\tb\\nc\\r");
  assert.equal(visible("\x1b[31mred\x07\x7f\x9b"), "\\e[31mred\\x07\\x7f\\x9b");
  assert.equal(visible("rm \u202e/ -rf\u200b\u2028"), "rm \\u{202e}/ -rf\\u{200b}\\u{2028}");
  assert.equal(visible("\ud800"), "\\u{d800}");
  assert.equal(visible("naïve 漢字 🚪"), "naïve 漢字 🚪");
});

test("an argv is quoted where a shell would need it, and only there", () => {
  assert.equal(commandLine("ls", ["-l", "a b", "it's", "", "x=1"]), "ls -l 'a b' 'it'\\''s' '' x=1");
  assert.equal(commandLine("echo $HOME\nls", null), "echo $HOME\\nls");
});
