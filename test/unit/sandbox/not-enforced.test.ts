import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { NOT_ENFORCED, notEnforcedText } from "../../../src/sandbox/not-enforced.ts";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

test("every promise that may not be kept has a row in the documentation", () => {
  const levels = read("docs/sandbox.md").split("\n## Levels\n")[1]?.split("\n## ")[0] ?? "";
  const rows = levels.split("\n").filter((line) => line.startsWith("| "));
  for (const name of Object.keys(NOT_ENFORCED)) {
    assert.ok(
      rows.some((row) => row.split("|")[3]?.includes(`\`${name}\``)),
      `docs/sandbox.md does not describe ${name}`,
    );
  }
});

test("every name that the keeper reports is known", () => {
  const names = [...read("native/sandbox/unsupported.c").matchAll(/\[UNSUPPORTED_\w+\] = "([\w-]+)"/g)];
  assert.ok(names.length > 5);
  for (const [, name = ""] of names) assert.ok(Object.hasOwn(NOT_ENFORCED, name), name);
});

test("a name of another version is shown as it is", () => {
  assert.equal(notEnforcedText(["ports", "something-new"]), "the list of TCP ports; something-new");
});
