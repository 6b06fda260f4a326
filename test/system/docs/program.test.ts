import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { pages, ROOT, type Sample, samples } from "./pages.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-program-"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

function samplesOf(path: string): Sample[] {
  return pages()
    .filter((page) => page.path === path)
    .flatMap(samples);
}

function programOf(path: string, has: string): string {
  return samplesOf(path).find(({ language, text }) => language === "js" && text.includes(has))?.text ?? "";
}

test("the program in README.md prints the output shown below it", () => {
  const all = samplesOf("README.md");
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
  for (const each of [home, cwd]) mkdirSync(each);
  const env = { PATH: process.env.PATH, HOME: home };
  const { stdout, stderr } = spawnSync(process.execPath, [file], { cwd, env, encoding: "utf8", timeout: 120_000 });
  assert.equal(stdout, shown?.text, stderr);
});

test("the program in docs/audit.md accepts an intact export and names an altered entry", async () => {
  const fixture = new GatewayFixture();
  try {
    const gateway = await fixture.open();
    await gateway.run({ command: "echo hello" });
    const lines = [...gateway.audit.export()];
    writeFileSync(join(folder, "check.js"), programOf("docs/audit.md", "audit.ndjson"));
    const check = (exported: string) => {
      writeFileSync(join(folder, "audit.ndjson"), exported);
      return spawnSync(process.execPath, ["check.js"], { cwd: folder, encoding: "utf8" });
    };
    const intact = check(lines.join(""));
    assert.equal(intact.status, 0, intact.stderr);
    const at = lines.findIndex((line) => line.includes("hello"));
    const altered = lines.with(at, lines[at]?.replace("hello", "hallo") ?? "");
    assert.match(check(altered.join("")).stderr, new RegExp(`Error: entry ${at + 1}$`, "m"));
  } finally {
    await fixture.close();
  }
});

test("the function in docs/work-queue.md accepts only a valid, recent signature", async () => {
  const file = join(folder, "signature.js");
  writeFileSync(file, `${programOf("docs/work-queue.md", "isFromSallyport")}\nexport { isFromSallyport };\n`);
  const { isFromSallyport } = await import(pathToFileURL(file).href);
  const now = Math.floor(Date.now() / 1000);
  const headers = (timestamp: number) => ({
    "sallyport-timestamp": String(timestamp),
    "sallyport-signature": `v1=${createHmac("sha256", "secret").update(`${timestamp}.{}`).digest("hex")}`,
  });
  assert.equal(isFromSallyport(headers(now), "{}", "secret"), true);
  assert.equal(isFromSallyport(headers(now), "{ }", "secret"), false);
  assert.equal(isFromSallyport(headers(now), "{}", "another"), false);
  assert.equal(isFromSallyport(headers(now - 400), "{}", "secret"), false);
});
