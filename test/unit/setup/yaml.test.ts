import assert from "node:assert/strict";
import test from "node:test";
import { type Json, openDocument, type Path } from "../../../src/setup/edit/document.ts";
import { FormatError } from "../../../src/setup/edit/format-error.ts";

const ITEM: Path = ["mcpServers", { name: "sallyport" }];
const VALUE = { name: "sallyport", command: "/usr/bin/node", args: ["/a b/x.js", "mcp"] };

function edited(text: string, path: Path, value: Json): string {
  const document = openDocument("yaml", text);
  document.set(path, value);
  assert.deepEqual(document.get(path), value);
  return document.text;
}

test("adds an item to a list, in its indentation", () => {
  const item = (indent: string) =>
    `${indent}- name: sallyport\n${indent}  command: /usr/bin/node\n${indent}  args:\n${indent}    - "/a b/x.js"\n${indent}    - mcp\n`;
  const cases: [before: string, after: string][] = [
    ["", `mcpServers:\n${item("  ")}`],
    ["name: x", `name: x\nmcpServers:\n${item("  ")}`],
    ["# head\nname: x # n\n\n# tail\n", `# head\nname: x # n\nmcpServers:\n${item("  ")}\n# tail\n`],
    [
      "mcpServers:\n- name: a\n  command: b\nmodels: []\n",
      `mcpServers:\n- name: a\n  command: b\n${item("")}models: []\n`,
    ],
    ["mcpServers:\n    - name: a # first\n\nz: 1\n", `mcpServers:\n    - name: a # first\n${item("    ")}\nz: 1\n`],
    ["mcpServers: []\nz: 1\n", `mcpServers:\n${item("  ")}z: 1\n`],
    ["mcpServers: # none\nz: 1\n", `mcpServers: # none\n${item("  ")}z: 1\n`],
    ["---\nmcpServers:\n", `---\nmcpServers:\n${item("  ")}`],
  ];
  for (const [before, after] of cases) assert.equal(edited(before, ITEM, VALUE), after);
  const windows = edited("a: 1\r\n", ITEM, VALUE);
  assert.equal(windows, `a: 1\r\nmcpServers:\n${item("  ")}`.replace(/\r?\n/g, "\r\n"));
  const flow = edited("mcpServers: [{ name: a, command: b }]\n", ITEM, VALUE);
  assert.deepEqual(openDocument("yaml", flow).get(["mcpServers", { name: "a" }]), { name: "a", command: "b" });
});

test("replaces and removes an item and keeps the rest", () => {
  const before =
    "a: 1\nmcpServers:\n  - name: x\n    command: y\n  - name: sallyport # ours\n    command: old\nb: |\n  text: here\n  # not a comment\n";
  const after = edited(before, ITEM, VALUE);
  assert.ok(after.startsWith("a: 1\nmcpServers:\n  - name: x\n    command: y\n  - name: sallyport\n"));
  assert.ok(after.endsWith("b: |\n  text: here\n  # not a comment\n"));
  const document = openDocument("yaml", after);
  document.remove(ITEM);
  assert.equal(
    document.text,
    "a: 1\nmcpServers:\n  - name: x\n    command: y\nb: |\n  text: here\n  # not a comment\n",
  );
});

test("sets keys of nested mappings", () => {
  const cases: [before: string, after: string][] = [
    ["e:\n  d:\n    enabled: true\n  x: {}\n", "e:\n  d:\n    enabled: true\n    tools: no-shell\n  x: {}\n"],
    ["e:\n  d: {}\n", "e:\n  d:\n    tools: no-shell\n"],
    ["e: {}\n", "e:\n  d:\n    tools: no-shell\n"],
    ["e: { d: { a: 1 } }\n", "e: { d: { a: 1, tools: no-shell } }\n"],
    ["e:\n    d:\n        tools: [a, b] # mine\n", "e:\n    d:\n        tools: no-shell # mine\n"],
    ["e:\n  d:\n    tools:\n      - a\n    z: 1\n", "e:\n  d:\n    tools: no-shell\n    z: 1\n"],
  ];
  for (const [before, after] of cases) assert.equal(edited(before, ["e", "d", "tools"], "no-shell"), after);
});

test("adds to lists in their own style, and removes from them", () => {
  const cases: [before: string, after: string, removed: string][] = [
    ["exclude: []\n", "exclude: [Bash]\n", "exclude: []\n"],
    ["exclude: [ Write ] # w\n", "exclude: [ Write, Bash ] # w\n", "exclude: [Write] # w\n"],
    ["exclude:\n  - Write\n# end\n", "exclude:\n  - Write\n  - Bash\n# end\n", "exclude:\n  - Write\n# end\n"],
    ["exclude:\n", "exclude:\n  - Bash\n", "exclude: []\n"],
    ["ask: []\n", "ask: []\nexclude:\n  - Bash\n", "ask: []\nexclude: []\n"],
  ];
  for (const [before, after, removed] of cases) {
    const document = openDocument("yaml", before);
    document.append(["exclude"], "Bash");
    assert.equal(document.text, after);
    document.exclude(["exclude"], "Bash");
    assert.equal(document.text, removed);
  }
});

test("reads scalars as YAML 1.2 does", () => {
  const text = `a: yes\nb: "x\\ty" # c\nc: 'it''s'\nd: http://x/#y\ne: 1.5\nf: ~\ng: one\n  two\nh: >-\n  folded\n\n  text\n"k: k": true\ni:\n- - 1\n  - 2\n-  x: 1\n`;
  assert.throws(() => openDocument("yaml", `${text}  bad`), FormatError);
  const { h, ...rest } = openDocument("yaml", text).get([]) as { [key: string]: Json };
  assert.ok(String(h).includes("folded"));
  const expected = { a: "yes", b: "x\ty", c: "it's", d: "http://x/#y", e: 1.5, f: null, g: "one two", "k: k": true };
  assert.deepEqual(rest, { ...expected, i: [[1, 2], { x: 1 }] });
});

test("rejects what it cannot edit, with the line", () => {
  const broken: [text: string, line: number][] = [
    ["a: 1\na: 2\n", 2],
    ["a:\n\t- x\n", 2],
    ["a: &anchor\n  b: 1\n", 1],
    ["a: 1\nb: *anchor\n", 2],
    ["a: 1\n  b: 2\n", 2],
    ["a: [1, 2\n", 2],
    ["- a\n", 1],
    ["a: 1\n---\nb: 2\n", 2],
    ["a: !tag x\n", 1],
  ];
  for (const [text, line] of broken) {
    assert.throws(
      () => openDocument("yaml", text),
      (error) => error instanceof FormatError && error.line === line,
      text,
    );
  }
  const list = openDocument("yaml", "x: 1\nmcpServers:\n  a: 1\n");
  assert.throws(() => list.set(ITEM, VALUE), { message: "`mcpServers` must be a list", line: 3 });
});
