import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine } from "../../../src/text/command-line.ts";
import { failureText } from "../../../src/text/error-text.ts";
import { visible } from "../../../src/text/visible.ts";

test("escapes characters that affect a terminal or are invisible", () => {
  assert.equal(visible("a\tb\nc\r"), "a\\tb\\nc\\r");
  assert.equal(visible("\x1b[31mred\x07\x7f\x9b"), "\\e[31mred\\x07\\x7f\\x9b");
  assert.equal(visible("rm \u202e/ -rf\u200b\u2028"), "rm \\u{202e}/ -rf\\u{200b}\\u{2028}");
  assert.equal(visible("\ud800"), "\\u{d800}");
  assert.equal(visible("naïve 漢字 🚪"), "naïve 漢字 🚪");
});

test("escapes control characters in quoted error text", () => {
  const failure = { type: "X", message: "no \u001b[2J", recovery: [{ action: "a", hint: "try \u202e\nthat" }] };
  assert.equal(failureText(failure), "sallyport: no \\e[2J\n  try \\u{202e}\nthat");
});

test("quotes arguments only where the shell needs it", () => {
  assert.equal(commandLine("ls", ["-l", "a b", "it's", "", "x=1"]), "ls -l 'a b' 'it'\\''s' '' x=1");
  assert.equal(commandLine("echo $HOME\nls", null), "echo $HOME\\nls");
});
