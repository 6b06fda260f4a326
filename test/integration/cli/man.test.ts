import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { commandHelp } from "../../fixtures/command-help.ts";
import { missing } from "../../fixtures/on-path.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const SCRIPT = join(import.meta.dirname, "../../../scripts/man.ts");

test("the manual page contains the options and examples of every command", { skip: missing("man") }, async () => {
  const box = new Sandbox();
  try {
    const file = join(box.folder, "sallyport.1");
    const made = spawnSync(process.execPath, [SCRIPT, file], { encoding: "utf8" });
    assert.equal(made.status, 0, made.stderr);
    const env = { PATH: process.env.PATH, MANWIDTH: "100", LC_ALL: "C.UTF-8", MAN_KEEP_FORMATTING: "" };
    const shown = spawnSync("man", ["--warnings", "-E", "UTF-8", "-l", file], { env, encoding: "utf8" });
    assert.equal(shown.status, 0, shown.stderr);
    assert.equal(shown.stderr, "");
    const text = shown.stdout.replaceAll("‐", "-");
    for (const { options, examples } of await commandHelp(box)) {
      for (const { long } of options) assert.ok(text.includes(`--${long}`), long);
      for (const example of examples) assert.ok(text.includes(example.trim()), example);
    }
  } finally {
    box.remove();
  }
});
