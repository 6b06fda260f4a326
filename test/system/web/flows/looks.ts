import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import type { Look } from "../browser.ts";
import { builtPage } from "../built-page.ts";
import { type Stage, visit } from "../stage.ts";

/** Maximum compressed size of the files that the first page needs, in bytes. */
const MOST_AT_FIRST = 400 * 1024;

interface View {
  name: string;
  hash: (ids: Record<string, string>) => string;
  ready: (page: Page) => Promise<unknown>;
}

const VIEWS: View[] = [
  { name: "sessions", hash: () => "#/sessions", ready: (page) => page.getByRole("row").nth(1).waitFor() },
  {
    name: "log",
    hash: ({ hostile }) => `#/session/${hostile}`,
    ready: (page) => page.locator(".log-row").first().waitFor(),
  },
  {
    name: "terminal",
    hash: ({ terminal }) => `#/session/${terminal}`,
    ready: (page) => page.locator(".xterm-rows").getByText("ready$").waitFor(),
  },
  {
    name: "replay",
    hash: ({ terminal }) => `#/session/${terminal}?tab=replay`,
    ready: (page) => page.locator(".xterm-rows").getByText("ready$").waitFor(),
  },
  {
    name: "processes",
    hash: ({ sleepers }) => `#/session/${sleepers}?tab=processes`,
    ready: (page) => page.getByText("sleep 7002").last().waitFor(),
  },
  {
    name: "usage",
    hash: ({ sleepers }) => `#/session/${sleepers}?tab=usage`,
    ready: (page) => page.locator(".chart canvas").first().waitFor(),
  },
  {
    name: "details",
    hash: ({ greeter }) => `#/session/${greeter}?tab=details`,
    ready: (page) => page.getByRole("heading", { name: "Command" }).waitFor(),
  },
  {
    name: "approvals",
    hash: () => "#/approvals",
    ready: (page) =>
      page
        .getByRole("button", { name: /Allow once/ })
        .and(page.locator(":enabled"))
        .waitFor(),
  },
  {
    name: "policy-check",
    hash: () => "#/policy-check?c=echo%20hi%3B%20rm%20-rf%20~",
    ready: (page) => page.getByRole("heading", { name: "Blocked" }).waitFor(),
  },
  { name: "audit", hash: () => "#/audit", ready: (page) => page.locator(".audit-row").first().waitFor() },
  {
    name: "rules",
    hash: () => "#/rules",
    ready: (page) => page.getByRole("heading", { name: "Built-in rules" }).waitFor(),
  },
  { name: "system", hash: () => "#/system", ready: (page) => page.locator(".findings li").first().waitFor() },
];

export function looks(stage: () => Stage): void {
  for (const look of ["light", "dark", "phone"] as const) {
    test(`every page is accessible and fits the window (${look})`, async () => {
      const { browser, service, ids } = stage();
      const page = await browser.window(look);
      await page.goto("/");
      await page.getByLabel("One-time secret or token").fill(service.secrets.operator);
      await inspect(stage(), page, "sign-in", look);
      await page.keyboard.press("Enter");
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
      for (const { name, hash, ready } of VIEWS) {
        await visit(page, hash(ids));
        await ready(page);
        await inspect(stage(), page, name, look);
      }
      await page.context().close();
    });
  }

  test("the first load is small and contains no chart or terminal code", () => {
    const { folder, dispose } = builtPage();
    const index = readFileSync(join(folder, "index.html"), "utf8");
    const files = [...index.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path]) => path as string);
    const size = [index, ...files.map((path) => readFileSync(join(folder, path)))]
      .map((content) => gzipSync(content).length)
      .reduce((sum, bytes) => sum + bytes);
    assert.ok(files.length > 1);
    assert.ok(size <= MOST_AT_FIRST, `${size} bytes`);
    for (const path of files) assert.doesNotMatch(readFileSync(join(folder, path), "utf8"), /uPlot|registerOscHandler/);
    dispose();
  });

  test("no page reported an error or sent a request to another host", () => {
    assert.deepEqual([...new Set(stage().browser.complaints)], []);
    assert.deepEqual(stage().service.failures, []);
  });
}

async function inspect({ browser }: Stage, page: Page, name: string, look: Look): Promise<void> {
  await browser.shot(page, `${name}-${look}`);
  assert.deepEqual(await browser.axe(page, look === "dark" ? ["color-contrast"] : null), [], `${name}, ${look}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  assert.ok(!wide, `${name}, ${look}: wider than the window`);
}
