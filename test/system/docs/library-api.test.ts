import assert from "node:assert/strict";
import { test } from "node:test";
import { apiPage } from "../../../scripts/api.ts";
import { pages } from "./pages.ts";

test("docs/library-api.md has the types as they are", () => {
  const page = pages().find(({ path }) => path === "docs/library-api.md");
  assert.equal(page?.text, apiPage(), "it is out of date: node scripts/api.ts");
});
