import assert from "node:assert/strict";
import { test } from "node:test";
import { readShellArguments } from "../../../src/hosts/shell-arguments.ts";

const TEXTS: [argv: string[], options: string[], parameters?: string[]][] = [
  [["-c", "CMD"], []],
  [["-lc", "CMD"], ["-l"]],
  [["-l", "-c", "CMD"], ["-l"]],
  [["--login", "-c", "CMD"], ["--login"]],
  [["-ic", "CMD"], ["-i"]],
  [["-c", "-l", "CMD"], ["-l"]],
  [["-c", "--", "CMD"], []],
  [
    ["-ceo", "pipefail", "CMD"],
    ["-e", "-o", "pipefail"],
  ],
  [
    ["-e", "-o", "pipefail", "-x", "-c", "CMD"],
    ["-e", "-o", "pipefail", "-x"],
  ],
  [
    ["--norc", "--noprofile", "-c", "CMD"],
    ["--norc", "--noprofile"],
  ],
  [["+e", "-c", "CMD"], ["+e"]],
  [["-c", "CMD", "name", "-c"], [], ["name", "-c"]],
];

for (const [argv, options, parameters = []] of TEXTS) {
  test(`finds the text of ${argv.join(" ")}`, () => {
    const found = readShellArguments(argv);
    assert.ok(!("problem" in found));
    assert.deepEqual(
      { kind: found.kind, command: found.command, options: found.options, parameters: found.parameters, plain: true },
      { kind: "command", command: "CMD", options, parameters, plain: found.plain },
    );
  });
}

test("options that change what a text means are not plain", () => {
  for (const argv of [
    ["-O", "extglob", "-c", "CMD"],
    ["-o", "posix", "-c", "CMD"],
    ["--posix", "-c", "CMD"],
    ["--rcfile", "file", "-c", "CMD"],
    ["-n", "-c", "CMD"],
    ["-f", "-c", "CMD"],
    ["+O", "extglob", "-c", "CMD"],
    ["--restricted", "-c", "CMD"],
  ]) {
    const found = readShellArguments(argv);
    assert.ok(!("problem" in found) && !found.plain && found.command === "CMD", argv.join(" "));
  }
});

test("tells a script from standard input", () => {
  const kinds = [["file", "-c", "x"], ["-x", "--", "file"], [], ["-i"], ["-s", "a"], ["-"]].map((argv) => {
    const found = readShellArguments(argv);
    return "problem" in found ? found.problem : [found.kind, found.parameters];
  });
  assert.deepEqual(kinds, [
    ["script", ["file", "-c", "x"]],
    ["script", ["file"]],
    ["stdin", []],
    ["stdin", []],
    ["stdin", ["a"]],
    ["stdin", []],
  ]);
});

test("reports a missing argument", () => {
  assert.deepEqual(readShellArguments(["-c"]), { problem: "-c: option requires an argument" });
  assert.deepEqual(readShellArguments(["--rcfile"]), { problem: "--rcfile: option requires an argument" });
});
