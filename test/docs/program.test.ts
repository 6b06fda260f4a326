import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { pages, ROOT, samples } from "./pages.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-program-"));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

test("README.md: its program prints what is shown below it", () => {
  const readme = pages().find(({ path }) => path === "README.md");
  assert.ok(readme);
  const all = samples(readme);
  const at = all.findIndex(({ language }) => language === "ts");
  const [program, shown] = [all[at], all[at + 1]];
  assert.equal(shown?.language, "text");
  const library = pathToFileURL(join(ROOT, "src/index.ts")).href;
  const [file, home, cwd] = ["program.ts", "home", "project"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(file, program?.text.replace('from "sallyport"', `from "${library}"`) ?? "");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const each of [home, cwd]) mkdirSync(each);
  const env = { PATH: process.env.PATH, HOME: home };
  const { stdout, stderr } = spawnSync(process.execPath, [file], { cwd, env, encoding: "utf8", timeout: 120_000 });
  assert.equal(stdout, shown?.text, stderr);
});
