import assert from "node:assert/strict";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { after, before, test } from "node:test";
import { buildSite, pagePaths, sections } from "../../../scripts/docs/site.ts";
import { TestBrowser, WITHOUT_CHROMIUM } from "../web/browser.ts";
import { pages, ROOT } from "./pages.ts";

const site = mkdtempSync(join(tmpdir(), "sallyport-site-"));
const html = new Map<string, string>();
before(() => {
  buildSite(site);
  for (const name of globSync("**/*.html", { cwd: site })) html.set(name, readFileSync(join(site, name), "utf8"));
});
after(() => rmSync(site, { recursive: true }));

test("the index lists every page once", () => {
  const listed = sections(readFileSync(join(ROOT, "docs/README.md"), "utf8")).flatMap(({ links }) => links);
  const paths = listed.map(({ path }) => path).sort();
  assert.deepEqual(
    paths,
    pagePaths()
      .filter((path) => path !== "docs/README.md" && path !== "README.md")
      .sort(),
  );
});

test("the site has every page of the repository", () => {
  assert.equal(html.size, pages().length);
});

test("the links of the site lead to files and headings that exist", () => {
  const broken: string[] = [];
  for (const [name, text] of html) {
    for (const [, target = ""] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
      if (/^(https?|mailto):/.test(target)) continue;
      const [file = "", anchor] = target.split("#");
      const path = file === "" ? name : relative(site, join(site, dirname(name), file));
      const exists = existsSync(join(site, path)) && (!anchor || html.get(path)?.includes(` id="${anchor}"`));
      if (!exists) broken.push(`${name}: ${target}`);
    }
  }
  assert.deepEqual(broken, []);
});

test("search finds a heading and opens its page", { skip: WITHOUT_CHROMIUM }, async () => {
  const browser = await TestBrowser.open(`file://${site}/`);
  try {
    const page = await browser.window();
    await page.goto("index.html");
    await page.keyboard.press("/");
    await page.keyboard.type("threat model");
    await page.locator("#results a").first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/threat-model\.html/);
    assert.match(await page.locator("h1").innerText(), /threat model/i);
    assert.deepEqual(
      browser.complaints.filter((complaint) => !complaint.startsWith(`file://${site}/`)),
      [],
    );
  } finally {
    await browser.close();
  }
});
