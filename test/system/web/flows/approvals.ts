import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunRequest } from "../../../../src/core/request.ts";
import { until } from "../../../fixtures/until.ts";
import { ASKS, type Stage, visit } from "../stage.ts";

/** Asks and does not wait; gives the id of the request. */
async function ask({ gateway }: Stage, request: Partial<RunRequest> & { command: string }): Promise<string> {
  const { approvalId } = await gateway.run({ ask: "always", ...request }, { approvalTimeoutMs: 0 });
  assert.ok(approvalId);
  return approvalId;
}

export function approvalFlows(stage: () => Stage): void {
  test("a request shows the whole command, unfalsified, and what is the matter in it", async () => {
    const { page } = stage();
    await visit(page, "#/approvals");
    const id = await ask(stage(), { command: `echo ${ASKS} one \u202etxt.exe`, intent: "<i>trust me</i>" });
    await page.getByRole("status").filter({ hasText: "1 waiting" }).waitFor();
    await until("the title says so", async () => (await page.title()).startsWith("(1)"));
    const card = page.getByRole("article");
    assert.match(await card.locator("pre").innerText(), new RegExp(`^echo ${ASKS} one ‹U\\+202E›txt\\.exe`));
    await card.locator("mark").first().waitFor();
    await card.getByText("<i>trust me</i>").waitFor();
    await card.getByText("The agent's own words, not a fact.").waitFor();
    await visit(page, `#/approvals/${id}`);
  });

  test("a key decides only for the card in focus", async () => {
    const { page, gateway } = stage();
    const [waiting] = gateway.approvals.list({ status: "pending" });
    assert.ok(waiting);
    await page.getByRole("button", { name: /Once/ }).and(page.locator(":enabled")).waitFor();
    await page.getByRole("button", { name: "Tell me on the desktop" }).focus();
    await page.keyboard.press("o");
    assert.equal(gateway.approvals.get(waiting.id).status, "pending");
    await page.getByRole("article").focus();
    await page.keyboard.press("o");
    await page.getByRole("article").getByText("said yes, once").waitFor();
    const { status, decisions } = gateway.approvals.get(waiting.id);
    assert.deepEqual([status, decisions[0]?.who, decisions[0]?.channel], ["approved", "tester", "console"]);
  });

  test("a denial takes a reason along to the agent", async () => {
    const { page, gateway } = stage();
    const id = await ask(stage(), { command: `echo ${ASKS} two` });
    await visit(page, `#/approvals/${id}`);
    await page.getByRole("button", { name: /Deny…/ }).and(page.locator(":enabled")).click();
    await page.keyboard.type("not on a Friday");
    await page.keyboard.press("Enter");
    await page.getByRole("article").getByText("not on a Friday").waitFor();
    assert.equal(gateway.approvals.get(id).reason, "not on a Friday");
  });

  test("always says exactly what it will cover, and for how long", async () => {
    const { page, gateway } = stage();
    const id = await ask(stage(), { command: "date", args: ["-u", `+${ASKS}`] });
    await visit(page, `#/approvals/${id}`);
    await page
      .getByRole("button", { name: /Always…/ })
      .and(page.locator(":enabled"))
      .click();
    await page.getByText(`/usr/bin/date -u +${ASKS}`).first().waitFor();
    await page.getByLabel("7 days").check();
    await page.getByRole("button", { name: "Allow for 7 days" }).click();
    await page.getByRole("article").getByText("said yes, always").waitFor();
    const [grant] = gateway.approvals.grants.list({});
    assert.deepEqual(grant?.args, { kind: "exact", values: ["-u", `+${ASKS}`] });
    assert.ok(grant.expiresAt);
  });

  test("of two people who decide at once the second sees what happened", async () => {
    const { page, browser, service } = stage();
    const id = await ask(stage(), { command: `echo ${ASKS} three` });
    const other = await browser.signedIn(service.secrets.approver);
    for (const each of [page, other]) await visit(each, `#/approvals/${id}`);
    await other.getByRole("button", { name: /Deny…/ }).and(other.locator(":enabled")).click();
    await page.getByRole("button", { name: /Once/ }).and(page.locator(":enabled")).waitFor();
    // Without events it does not learn of the other's decision before it makes its own.
    await page.route("**/v1/approvals/*/decision", async (route) => {
      await other.keyboard.press("Enter");
      await other.getByRole("article").getByText("said no").waitFor();
      await route.continue();
    });
    await page.getByRole("button", { name: /Once/ }).click();
    await page.getByRole("article").getByText("said no").waitFor();
    await page.getByRole("alert").filter({ hasText: /ann/ }).waitFor();
    await page.unroute("**/v1/approvals/*/decision");
    await other.context().close();
  });

  test("a viewer sees requests and no way to decide", async () => {
    const { browser, service } = stage();
    const id = await ask(stage(), { command: `echo ${ASKS} four` });
    const page = await browser.signedIn(service.secrets.viewer);
    await visit(page, `#/approvals/${id}`);
    await page.getByText("Deciding needs the role approver").waitFor();
    assert.equal(await page.getByRole("button", { name: /Once|Deny/ }).count(), 0);
    await page.context().close();
  });

  test("a request too long for an event is shown all the same, whole", async () => {
    const { page, gateway } = stage();
    await visit(page, "#/approvals");
    const id = await ask(stage(), { command: `echo ${ASKS} ${"x".repeat(100_000)} to the end` });
    await page.getByRole("button", { name: new RegExp(`echo ${ASKS} x{100}`) }).waitFor();
    await visit(page, `#/approvals/${id}`);
    await page.getByRole("article").getByText("to the end").waitFor();
    gateway.approvals.decide(id, { decision: "deny", who: "tester", channel: "library" });
    await page.getByRole("article").getByText("said no").waitFor();
    assert.equal(await page.getByRole("article").getByText("to the end").count(), 1);
  });

  test("what waits is not pushed out of sight by what came later", async () => {
    const { page, gateway } = stage();
    const id = await ask(stage(), { command: `echo ${ASKS} the patient one` });
    const later: string[] = [];
    for (let n = 0; n < 205; n++) later.push(await ask(stage(), { command: `echo ${ASKS} later ${n}` }));
    for (const each of later) gateway.approvals.decide(each, { decision: "deny", who: "tester", channel: "library" });
    await page.reload();
    await visit(page, "#/approvals");
    await page.getByRole("list", { name: "Waiting" }).getByText("the patient one").waitFor();
    gateway.approvals.decide(id, { decision: "deny", who: "tester", channel: "library" });
  });
}
