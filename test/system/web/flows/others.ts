import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { until } from "../../../fixtures/until.ts";
import { type Stage, visit } from "../stage.ts";

/** Try, Rules, Machine and Audit. The last one spoils the chain. */
export function otherFlows(stage: () => Stage): void {
  test("a verdict is told as one types, and nothing runs", async () => {
    const { page, gateway } = stage();
    const before = gateway.count();
    await visit(page, "#/try");
    await page.getByRole("textbox", { name: "Command" }).fill("echo ok; rm -rf ~");
    await page.getByRole("heading", { name: "It would be blocked" }).waitFor();
    await page.getByText("delete-vital").first().waitFor();
    await page.getByText("Instead:").first().waitFor();
    await page.locator(".behind .blocked").first().waitFor();
    const cell = page
      .getByRole("row", { name: /security: full/ })
      .getByRole("cell")
      .first();
    await until("it is blocked in every mode", async () => (await cell.innerText()) === "blocked");
    await page.getByRole("textbox", { name: "Command" }).fill("git status");
    await page.getByRole("heading", { name: "It would run" }).waitFor();
    assert.equal(gateway.count(), before);
  });

  test("a rule is tried with its examples, added, and taken back", async () => {
    const { page, gateway } = stage();
    await visit(page, "#/rules");
    await page.getByRole("heading", { name: "Allow something" }).click();
    await page.getByLabel("Program and arguments").fill("du -s one");
    await page.getByLabel(/^Patterns/).fill("-s *");
    await page.getByLabel(/^Examples/).fill("du -s two\ndu -x two");
    const tried = page.locator(".tried");
    await tried.locator("li[data-covered=true]", { hasText: "du -s two" }).waitFor();
    await tried.locator("li[data-covered=false]", { hasText: "du -x two" }).waitFor();
    await page.getByRole("button", { name: "Allow it" }).click();
    const row = page.getByRole("row").filter({ hasText: "/usr/bin/du -s *" });
    await row.getByText("in force").waitFor();
    await row.getByRole("button", { name: /Revoke/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await row.getByText("taken back").waitFor();
    const [grant] = gateway.approvals.grants.list({ all: true }).filter(({ executable }) => executable.endsWith("/du"));
    assert.deepEqual([grant?.createdBy, grant?.revokedAt === null], ["tester", false]);
  });

  test("the machine's findings are shown", async () => {
    const { page } = stage();
    await visit(page, "#/machine");
    await page.getByRole("list", { name: "Findings" }).getByRole("listitem").first().waitFor();
  });

  test("the audit is searched, verified, and a broken chain is told with its place", async () => {
    const { page, service } = stage();
    await visit(page, "#/audit");
    await page.getByLabel("Search the audit").fill("7003");
    const entry = page.getByRole("list", { name: /^Entries/ }).getByRole("listitem");
    await entry.filter({ hasText: "sleep 7003" }).first().click();
    await page.getByText("no longer needed").first().or(page.locator(".audit-detail")).first().waitFor();
    await page.getByRole("button", { name: "Verify the chain" }).click();
    await page.getByText(/All \d+ entries are as they were written/).waitFor();
    const database = new DatabaseSync(`${service.fixture.state}/sallyport.db`);
    database.exec("PRAGMA busy_timeout = 10000; UPDATE audit SET summary = 'nothing' WHERE seq = 3");
    database.close();
    await page.getByRole("button", { name: "Verify the chain" }).click();
    await page.getByText(/Broken at entry 3:/).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export" }).click();
    assert.equal((await download).suggestedFilename(), "audit.ndjson");
  });
}
