import assert from "node:assert/strict";
import { test } from "node:test";
import { apiPage } from "../../../scripts/api.ts";
import { pages } from "./pages.ts";

test("docs/library-api.md matches the exported types", () => {
  const page = pages().find(({ path }) => path === "docs/library-api.md");
  assert.equal(page?.text, apiPage(), "it is out of date; run `node scripts/api.ts`");
});
