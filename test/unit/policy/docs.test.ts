import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { RULES } from "../../../src/policy/rules/index.ts";

test("the documentation lists every rule with its current message", () => {
  const page = readFileSync(new URL("../../../docs/policy.md", import.meta.url), "utf8");
  for (const { id, tier, message } of RULES) assert.ok(page.includes(`| \`${id}\` | ${tier} | ${message} |`), id);
});
