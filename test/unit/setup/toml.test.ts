import assert from "node:assert/strict";
import test from "node:test";
import { type Json, openDocument } from "../../../src/setup/edit/document.ts";
import { FormatError } from "../../../src/setup/edit/format-error.ts";

const SERVER = { command: "/usr/bin/node", args: ["/a b/x.js", "mcp"] };
const SECTION = '[mcp_servers.sallyport]\ncommand = "/usr/bin/node"\nargs = ["/a b/x.js", "mcp"]\n';
const PATH = ["mcp_servers", "sallyport"];

function edited(text: string, path: string[], value: Json): string {
  const document = openDocument("toml", text);
  document.set(path, value);
  assert.deepEqual(plain(document.get(path)), value);
  return document.text;
}

function plain(value: Json | undefined): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

test("adds a table as a paragraph of its own, wherever the others are", () => {
  const cases: [before: string, after: string][] = [
    ["", SECTION],
    ["# only a comment\n", `# only a comment\n\n${SECTION}`],
    ['model = "o9"', `model = "o9"\n\n${SECTION}`],
    ['model = "o9"\n\n', `model = "o9"\n\n${SECTION}`],
    ["\ufeffa = 1\n", `\ufeffa = 1\n\n${SECTION}`],
    [
      '[mcp_servers.docs] # mine\ncommand = "d"\n\n[tui]\ntheme = "x"\n',
      `[mcp_servers.docs] # mine\ncommand = "d"\n\n${SECTION}\n[tui]\ntheme = "x"\n`,
    ],
    ['mcp_servers.docs.command = "d"\n', `mcp_servers.docs.command = "d"\n\n${SECTION}`],
    [
      '[[profiles]]\nname = "a"\n[[profiles]]\nname = "b"\n',
      `[[profiles]]\nname = "a"\n[[profiles]]\nname = "b"\n\n${SECTION}`,
    ],
    [
      '[mcp_servers]\ndocs = { command = "d" } # d\n\n[tui]\n',
      `[mcp_servers]\ndocs = { command = "d" } # d\n\n${SECTION}\n[tui]\n`,
    ],
  ];
  for (const [before, after] of cases) assert.equal(edited(before, PATH, SERVER), after);
  const windows = edited('a = 1\r\n[tui]\r\nb = """\r\n[x]\r\n"""\r\n', PATH, SERVER);
  assert.equal(windows, `a = 1\r\n[tui]\r\nb = """\r\n[x]\r\n"""\r\n\r\n${SECTION.replaceAll("\n", "\r\n")}`);
});

test("adds to an inline table and replaces in it", () => {
  const before = 'mcp_servers = { docs = { command = "d" } } # all\n';
  const inline = '{ command = "/usr/bin/node", args = ["/a b/x.js", "mcp"] }';
  const after = edited(before, PATH, SERVER);
  assert.equal(after, `mcp_servers = { docs = { command = "d" }, sallyport = ${inline} } # all\n`);
  assert.equal(edited(after, [...PATH, "command"], "n"), after.replace("/usr/bin/node", "n"));
  assert.equal(edited("features = {}\n", ["features", "shell_tool"], false), "features = { shell_tool = false }\n");
  const document = openDocument("toml", after);
  document.remove(PATH);
  assert.equal(document.text, before);
});

test("replaces a table with all of its parts in place", () => {
  const before = `a = 1\n\n[mcp_servers.sallyport]\ncommand = "old" # note\n\n[mcp_servers.sallyport.env]\nX = "1"\n\n[tui]\nb = 2\n`;
  assert.equal(edited(before, PATH, SERVER), `a = 1\n\n${SECTION}\n\n[tui]\nb = 2\n`);
  const dotted =
    'mcp_servers.sallyport.command = "old"\nmcp_servers.sallyport.args = [\n  "x", # one\n]\n\n[tui]\nb = 2\n';
  assert.deepEqual(plain(openDocument("toml", edited(dotted, PATH, SERVER)).get(PATH)), SERVER);
});

test("sets a single value where its neighbors are", () => {
  const cases: [before: string, after: string][] = [
    ["", "[features]\nshell_tool = false\n"],
    [
      "[features]\n\tweb = true # on\n\n# about x\n[x]\n",
      "[features]\n\tweb = true # on\n\tshell_tool = false\n\n# about x\n[x]\n",
    ],
    ["[features] # none yet\n[x]\n", "[features] # none yet\nshell_tool = false\n[x]\n"],
    ["features.web = true\n\n[x]\na = 1", "features.web = true\nfeatures.shell_tool = false\n\n[x]\na = 1"],
    ["[features]\nshell_tool = true # mine\n", "[features]\nshell_tool = false # mine\n"],
    ['[features]\n"shell_tool" = true', '[features]\n"shell_tool" = false'],
    ["features = { web = true }", "features = { web = true, shell_tool = false }"],
    ["[features.beta]\nx = 1\n", "[features.beta]\nx = 1\n\n[features]\nshell_tool = false\n"],
    ["[features]", "[features]\nshell_tool = false\n"],
  ];
  for (const [before, after] of cases) assert.equal(edited(before, ["features", "shell_tool"], false), after);
});

test("reads every kind of value", () => {
  const text = `
s = "a\\tb\\u00e9\\"" # c
l = 'C:\\x'
m = """
one \\
   two
"""
n = '''
x''y'''
i = 1_000
h = 0xff
f = -1.5e3
d = 2026-11-19T20:00:00Z
e = 2026-11-19 20:00:00
b = true
a = [ 1, # one
  [ "x" ], { k = 'v' } ]
"quoted key".x = 1
`;
  assert.deepEqual(plain(openDocument("toml", text).get([])), {
    s: 'a\tbé"',
    l: "C:\\x",
    m: "one two\n",
    n: "x''y",
    i: 1000,
    h: 255,
    f: -1500,
    d: "2026-11-19T20:00:00Z",
    e: "2026-11-19 20:00:00",
    b: true,
    a: [1, ["x"], { k: "v" }],
    "quoted key": { x: 1 },
  });
});

test("reports the line of an error, and of a value of another type", () => {
  const broken: [text: string, line: number][] = [
    ["a = 1\nb =\n", 2],
    ["a = 1\na = 2\n", 2],
    ["[t]\n\n[t]\n", 3],
    ['\n\ns = "open\n', 3],
    ["a = [1,\n2\n", 3],
    ["a = 1 b = 2\n", 1],
    ["= 1\n", 1],
    [`a = ${"[".repeat(5000)}`, 1],
  ];
  for (const [text, line] of broken) {
    assert.throws(
      () => openDocument("toml", text),
      (error) => error instanceof FormatError && error.line === line,
      text,
    );
  }
  const scalar = openDocument("toml", "\nfeatures = true\n");
  assert.throws(() => scalar.set(["features", "shell_tool"], false), {
    message: "`features` must be a table",
    line: 2,
  });
});
