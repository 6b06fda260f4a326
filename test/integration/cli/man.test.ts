import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CATALOG } from "../../../src/cli/catalog.ts";
import { manPage } from "../../../src/cli/man/page.ts";
import { missing } from "../../fixtures/on-path.ts";

test("the manual page shows every command, its options and its examples", { skip: missing("man") }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-man-"));
  try {
    const file = join(folder, "sallyport.1");
    writeFileSync(file, await manPage());
    const env = { PATH: process.env.PATH, MANWIDTH: "100", LC_ALL: "C.UTF-8", MAN_KEEP_FORMATTING: "" };
    const shown = spawnSync("man", ["--warnings", "-E", "UTF-8", "-l", file], { env, encoding: "utf8" });
    assert.equal(shown.status, 0, shown.stderr);
    assert.equal(shown.stderr, "");
    const text = shown.stdout.replaceAll("‐", "-");
    for (const { load } of Object.values(CATALOG).flatMap((group) => Object.values(group))) {
      const { options, examples } = await load();
      for (const option of Object.keys(options)) assert.ok(text.includes(`--${option}`), option);
      for (const example of examples) assert.ok(text.includes(example.trim()), example);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
