import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { RULES } from "../../../src/policy/rules/index.ts";

test("the page lists every rule as it is", () => {
  const page = readFileSync(new URL("../../../docs/policy.md", import.meta.url), "utf8");
  for (const { id, tier, message } of RULES) assert.ok(page.includes(`| \`${id}\` | ${tier} | ${message} |`), id);
});
