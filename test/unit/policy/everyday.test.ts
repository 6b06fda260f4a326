import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkCommand } from "./world.ts";

/** Everyday commands of coding agents, one per line: the class and the command. `\n` stands for a newline. */
const rows = readFileSync(new URL("./cases/everyday.txt", import.meta.url), "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => {
    const [kind = "", command = ""] = line.split("\t");
    return { kind, command: command.replaceAll("\\n", "\n") };
  });

test("everyday.txt has at least 190 commands", () => assert.ok(rows.length >= 190, String(rows.length)));

for (const [kind, members] of Map.groupBy(rows, (row) => row.kind)) {
  test(`runs every everyday command of class ${kind} without approval`, () => {
    const refused = members.flatMap(({ command }) => {
      const { verdict, reasons } = checkCommand(command);
      return verdict === "allow" ? [] : [`${verdict} [${reasons.map(({ rule }) => rule).join(",")}] ${command}`];
    });
    assert.deepEqual(refused, []);
  });
}
