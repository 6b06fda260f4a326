import assert from "node:assert/strict";
import { test } from "node:test";
import { renderVerdict } from "../../../src/cli/commands/approval/verdict.ts";
import { judge } from "../policy/world.ts";

const plain = { color: false, columns: 80 };

test("the offending part is underlined, with the rule and the alternative", () => {
  assert.equal(
    renderVerdict(judge("ls && rm -rf /"), plain),
    `blocked

  ls && rm -rf /
               ^

  delete-vital: Deletes the root, a home or a system folder.
  Instead: Delete a path inside the workspace or /tmp, named in full.
`,
  );
});

test("characters that hide something are written out, and marked where they are", () => {
  const text = renderVerdict(judge("echo a\u202eb\u001b[2K", { confined: false }), plain);
  assert.match(text, /^ {2}echo a\\u\{202e\}b\\e\[2K\n {8}\^{8} \^{2}\n/m);
  assert.ok(!text.includes("\u202e") && !text.includes("\u001b"));
});

test("nor does a rule's name, message or suggestion act on the terminal", () => {
  const reason = { rule: "x\u001b[2J", message: "\u001b[31mred", span: null, suggestion: "\u202eback" };
  const text = renderVerdict({ ...judge("ls"), verdict: "deny", reasons: [reason] }, plain);
  assert.match(text, /x\\e\[2J: \\e\[31mred\n {2}Instead: \\u\{202e\}back\n/);
});

test("a long command is wrapped, never cut", () => {
  const text = renderVerdict(judge(`ls${" ".repeat(300)}; rm -rf /`), { color: false, columns: 60 });
  assert.match(text, /; rm -rf \//);
  assert.ok(text.split("\n").every((line) => line.length <= 60));
});

test("several lines keep their lines", () => {
  assert.match(renderVerdict(judge("ls\nsudo id"), plain), / {2}ls\n {2}sudo id\n {2}\^{4}\n/);
});

test("wide characters keep the marks in place", () => {
  assert.match(renderVerdict(judge("echo 你好; sudo id"), plain), / {2}echo 你好; sudo id\n {13}\^{4}\n/);
});

test("colour only where asked for", () => {
  assert.ok(renderVerdict(judge("ls"), { color: true, columns: 80 }).includes("\u001b[32m"));
  assert.equal(renderVerdict(judge("ls"), plain), "allowed\n\n  ls\n\n  Nothing in it is a matter for a rule.\n");
});
