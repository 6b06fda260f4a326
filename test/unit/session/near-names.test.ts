import assert from "node:assert/strict";
import { test } from "node:test";
import { distance, nearNames } from "../../../src/text/nearest.ts";
import { cpuMs } from "../text/cpu-time.ts";

test("counts missing, added, wrong and swapped letters", () => {
  const cases: [string, string, number][] = [
    ["git", "git", 0],
    ["gti", "git", 1],
    ["gi", "git", 1],
    ["gitt", "git", 1],
    ["got", "git", 1],
    ["pyhton", "python", 1],
    ["pythno3", "python3", 1],
    ["pyton", "python3", 2],
    ["kubetcl", "kubectl", 1],
    ["abcdef", "git", 3],
    ["", "ab", 2],
  ];
  for (const [a, b, slips] of cases) {
    assert.equal(distance(a, b, 2), slips, `${a} ${b}`);
    assert.equal(distance(b, a, 2), slips, `${b} ${a}`);
  }
});

test("returns the most similar names first, up to the limit", () => {
  const names = ["git", "gist", "gitk", "gtk", "python", "python3", "pytest", "ls", "lsof", "node", "nodejs", "make"];
  const cases: [wanted: string, near: string[]][] = [
    ["gti", ["git", "gtk"]],
    ["pyhton", ["python"]],
    ["pyton3", ["python3"]],
    ["pytest", []],
    ["noode", ["node"]],
    ["maek", ["make"]],
    ["l", []],
    ["zzzzzz", []],
    ["x".repeat(1000), []],
  ];
  for (const [wanted, near] of cases) assert.deepEqual(nearNames(wanted, names, 3), near, wanted);
  assert.deepEqual(nearNames("gti", names, 1), ["git"]);
});

test("compares 20,000 long names quickly", () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `program-with-a-long-name-${index}`);
  assert.ok(cpuMs(() => nearNames("program-with-a-long-name-x", names, 3)) < 2000);
});
