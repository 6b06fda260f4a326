import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { hostPage, PAGES } from "../../../scripts/host-tables.ts";

const ROOT = join(import.meta.dirname, "../../..");

test("the pages about hosts are up to date with what setup writes", () => {
  for (const page of PAGES) {
    const text = readFileSync(join(ROOT, page), "utf8");
    assert.match(text, /<!-- generated from src\/setup\/hosts\//);
    assert.equal(text, hostPage(text), `${page} is out of date; run: node scripts/host-tables.ts`);
  }
});
