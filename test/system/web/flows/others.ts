import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { until } from "../../../fixtures/until.ts";
import { type Stage, visit } from "../stage.ts";

/** Tests the pages Policy check, Rules, System and Audit. The audit test must be last, because it corrupts the log. */
export function otherFlows(stage: () => Stage): void {
  test("a policy check shows the verdict while the command is typed, and runs nothing", async () => {
    const { page, gateway } = stage();
    const before = gateway.count();
    await visit(page, "#/policy-check");
    await page.getByRole("textbox", { name: "Command" }).fill("echo ok; rm -rf ~");
    await page.getByRole("heading", { name: "Blocked" }).waitFor();
    await page.getByText("delete-vital").first().waitFor();
    await page.getByText("Suggestion:").first().waitFor();
    await page.locator(".behind .blocked").first().waitFor();
    const cell = page
      .getByRole("row", { name: /security: full/ })
      .getByRole("cell")
      .first();
    await until("the table shows that the command is blocked", async () => (await cell.innerText()) === "blocked");
    await page.getByRole("textbox", { name: "Command" }).fill("git status");
    await page.getByRole("heading", { name: "Allowed" }).waitFor();
    assert.equal(gateway.count(), before);
  });

  test("a grant can be tested with examples, added and revoked", async () => {
    const { page, gateway } = stage();
    await visit(page, "#/rules");
    await page.getByRole("heading", { name: "Add a grant" }).click();
    await page.getByLabel("Program and arguments").fill("du -s one");
    await page.getByLabel(/^Argument patterns/).fill("-s *");
    await page.getByLabel(/^Example commands/).fill("du -s two\ndu -x two");
    const tried = page.locator(".tried");
    await tried.locator("li[data-covered=true]", { hasText: "du -s two" }).waitFor();
    await tried.locator("li[data-covered=false]", { hasText: "du -x two" }).waitFor();
    await page.getByRole("button", { name: "Add grant" }).click();
    const row = page.getByRole("row").filter({ hasText: "/usr/bin/du -s *" });
    await row.getByText("active").waitFor();
    await row.getByRole("button", { name: /Revoke/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await row.getByText("revoked").waitFor();
    const [grant] = gateway.approvals.grants.list({ all: true }).filter(({ executable }) => executable.endsWith("/du"));
    assert.deepEqual([grant?.createdBy, grant?.revokedAt === null], ["tester", false]);
  });

  test("the system page lists the results of the doctor checks", async () => {
    const { page } = stage();
    await visit(page, "#/system");
    await page.getByRole("list", { name: "Checks" }).getByRole("listitem").first().waitFor();
  });

  test("the audit log can be searched, verified and exported, and verification names a changed entry", async () => {
    const { page, service } = stage();
    await visit(page, "#/audit");
    await page.getByLabel("Search the audit log").fill("7003");
    const entry = page.getByRole("list", { name: /^Entries/ }).getByRole("listitem");
    await entry.filter({ hasText: "sleep 7003" }).first().click();
    await page.getByText("no longer needed").first().or(page.locator(".audit-detail")).first().waitFor();
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText(/all \d+ entries are intact/).waitFor();
    const database = new DatabaseSync(`${service.fixture.state}/sallyport.db`);
    database.exec("PRAGMA busy_timeout = 10000; UPDATE audit SET summary = 'nothing' WHERE seq = 3");
    database.close();
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText(/Verification failed at entry 3:/).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    assert.equal((await download).suggestedFilename(), "audit.ndjson");
  });
}
