import assert from "node:assert/strict";
import { test } from "node:test";
import { cliPage } from "../../../scripts/cli-reference.ts";
import { pages } from "./pages.ts";

test("docs/cli.md matches the help of the commands", async () => {
  const page = pages().find(({ path }) => path === "docs/cli.md")?.text ?? "";
  assert.equal(page, await cliPage(page), "docs/cli.md is out of date; run `node scripts/cli-reference.ts`");
});
