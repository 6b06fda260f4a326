import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULTS } from "../../../src/core/settings.ts";
import { policyOf } from "../../../src/policy/decide.ts";
import { checkCommand } from "./world.ts";

const allowed = (command: string) => checkCommand(command, { security: "allowlist" }).verdict === "allow";

const SAFE = [
  "echo hi | sort",
  "sort -rn",
  "sort -k2,2 -t:",
  "sort --reverse --unique",
  "head -5",
  "head -n 5",
  "head -n5",
  "tail -n +2",
  "cut -d: -f1",
  "tr a-z A-Z",
  "uniq -c",
  "wc -l",
  "echo a | tr a b | sort | uniq -c | sort -rn | head -3",
  "grep foo",
  "grep -i -v foo",
  "cat",
  "base64 -d",
  "date +%s",
];

const NOT_SAFE = [
  "sort f",
  "sort -o f",
  "sort --output=f",
  "sort --outp f",
  "sort --compress-program=./x",
  "sort --compress-prog=./x",
  "sort --comp ./x",
  "sort -T /tmp",
  "sort --files0-from=f",
  "sort *",
  "sort $X",
  "sort -S1 -o x",
  "sort -rno x",
  "head /etc/passwd",
  "head -n 5 f",
  "tail -f",
  "tail --follow",
  "tail --foll",
  "cut -f1 f",
  "tr a b c",
  "uniq - out",
  "uniq in out",
  "wc --files0-from=f",
  "wc -l < f",
  "grep foo f",
  "grep -r foo",
  "grep -f list",
  "grep --file=list",
  "cat f",
  "cat -- f",
  "./sort",
  "/tmp/sort",
  "date -s now",
  "sort > f",
  "sort >> f",
  "LD_PRELOAD=x sort",
  "X=1 sort",
];

for (const command of SAFE) test(`${command} is safe`, () => assert.ok(allowed(command)));
for (const command of NOT_SAFE) test(`${command} is not safe`, () => assert.ok(!allowed(command)));

test("only the configured filters are safe", () => {
  const policy = policyOf({ ...DEFAULTS, security: "allowlist", safeBins: ["sort"] });
  const kept = (command: string) => checkCommand(command, { policy }).verdict === "allow";
  assert.ok(kept("echo hi | sort"));
  assert.ok(!kept("echo hi | wc -l"));
});
