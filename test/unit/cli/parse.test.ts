import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "../../../src/cli/command.ts";
import { parseCommand } from "../../../src/cli/parse.ts";

const options = {
  text: { type: "string" },
  many: { type: "string", short: "m", multiple: true },
  flag: { type: "boolean", short: "f" },
} as const;
const plain: Command = { name: "x", summary: "", usage: "", options, examples: [], run: async () => 0 };
const line: Command = { ...plain, takesCommandLine: true };

test("options mix with arguments, and `--` ends them", () => {
  assert.deepEqual(
    { ...parseCommand(plain, ["a", "-f", "--text", "-5", "b", "--", "-f", "--"]) },
    {
      values: { __proto__: null, flag: true, text: "-5" },
      positionals: ["a", "b"],
      rest: ["-f", "--"],
    },
  );
  assert.equal(parseCommand(plain, ["a"]).rest, null);
});

test("a command that takes a command line leaves it alone from its first word on", () => {
  const expected = {
    values: { __proto__: null, many: ["1", "2"] },
    positionals: [],
    rest: ["ls", "-f", "--text", "--", "x"],
  };
  assert.deepEqual({ ...parseCommand(line, ["-m", "1", "-m2", "ls", "-f", "--text", "--", "x"]) }, expected);
  assert.deepEqual({ ...parseCommand(line, ["-m", "1", "-m2", "--", "ls", "-f", "--text", "--", "x"]) }, expected);
  assert.deepEqual(parseCommand(line, ["--", "--text"]).rest, ["--text"]);
  assert.deepEqual(parseCommand(line, ["--"]).rest, []);
});
