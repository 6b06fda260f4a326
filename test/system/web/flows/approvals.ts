import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunRequest } from "../../../../src/core/request.ts";
import { until } from "../../../fixtures/until.ts";
import { ASKS, type Stage, visit } from "../stage.ts";

/** Submits a command that requires approval, without waiting. Returns the ID of the approval request. */
async function ask({ gateway }: Stage, request: Partial<RunRequest> & { command: string }): Promise<string> {
  const { approvalId } = await gateway.run({ ask: "always", ...request }, { approvalTimeoutMs: 0 });
  assert.ok(approvalId);
  return approvalId;
}

export function approvalFlows(stage: () => Stage): void {
  test("a request shows the complete command, with codes for invisible characters and marks on risky parts", async () => {
    const { page } = stage();
    await visit(page, "#/approvals");
    const id = await ask(stage(), { command: `echo ${ASKS} one \u202etxt.exe`, intent: "<i>trust me</i>" });
    await page.getByRole("status").filter({ hasText: "1 pending approval" }).waitFor();
    await until("the title shows the count", async () => (await page.title()).startsWith("(1)"));
    const card = page.getByRole("article");
    assert.match(await card.locator("pre").innerText(), new RegExp(`^echo ${ASKS} one ‹U\\+202E›txt\\.exe`));
    await card.locator("mark").first().waitFor();
    await card.getByText("<i>trust me</i>").waitFor();
    await card.getByText("Agent's claim, unverified").waitFor();
    await visit(page, `#/approvals/${id}`);
  });

  test("a key decides only the focused request", async () => {
    const { page, gateway } = stage();
    const [waiting] = gateway.approvals.list({ status: "pending" });
    assert.ok(waiting);
    await page
      .getByRole("button", { name: /Allow once/ })
      .and(page.locator(":enabled"))
      .waitFor();
    await page.getByRole("button", { name: "Desktop notifications" }).focus();
    await page.keyboard.press("o");
    assert.equal(gateway.approvals.get(waiting.id).status, "pending");
    await page.getByRole("article").focus();
    await page.keyboard.press("o");
    await page.getByRole("article").getByText("allowed this once").waitFor();
    const { status, decisions } = gateway.approvals.get(waiting.id);
    assert.deepEqual([status, decisions[0]?.who, decisions[0]?.channel], ["approved", "tester", "console"]);
  });

  test("a denial passes its reason to the agent", async () => {
    const { page, gateway } = stage();
    const id = await ask(stage(), { command: `echo ${ASKS} two` });
    await visit(page, `#/approvals/${id}`);
    await page.getByRole("button", { name: /Deny…/ }).and(page.locator(":enabled")).click();
    await page.keyboard.type("not on a Friday");
    await page.keyboard.press("Enter");
    await page.getByRole("article").getByText("not on a Friday").waitFor();
    assert.equal(gateway.approvals.get(id).reason, "not on a Friday");
  });

  test("`Always allow` states exactly what it will allow, and for how long", async () => {
    const { page, gateway } = stage();
    // A grant would have no effect where `ask` is "always", so `Always allow` is not offered there.
    const unlisted = { security: "allowlist", ask: "on-miss" } as const;
    const id = await ask(stage(), { command: "fmt", args: ["-u", `+${ASKS}`], ...unlisted });
    await visit(page, `#/approvals/${id}`);
    await page
      .getByRole("button", { name: /Always allow…/ })
      .and(page.locator(":enabled"))
      .click();
    await page.getByText(`/usr/bin/fmt -u +${ASKS}`).first().waitFor();
    await page.getByLabel("7 days").check();
    await page.getByRole("button", { name: "Allow for 7 days" }).click();
    await page.getByRole("article").getByText("allowed this for 7 days").waitFor();
    const [grant] = gateway.approvals.grants.list({});
    assert.deepEqual(grant?.args, { kind: "exact", values: ["-u", `+${ASKS}`] });
    assert.ok(grant.expiresAt);
  });

  test("when two people decide at once, the second sees the decision of the first", async () => {
    const { page, browser, service } = stage();
    const id = await ask(stage(), { command: `echo ${ASKS} three` });
    const other = await browser.signedIn(service.secrets.approver);
    for (const each of [page, other]) await visit(each, `#/approvals/${id}`);
    await other.getByRole("button", { name: /Deny…/ }).and(other.locator(":enabled")).click();
    await page
      .getByRole("button", { name: /Allow once/ })
      .and(page.locator(":enabled"))
      .waitFor();
    // The other person decides while this page's decision is already on its way to the service.
    await page.route("**/v1/approvals/*/decision", async (route) => {
      await other.keyboard.press("Enter");
      await other.getByRole("article").getByText("denied this").waitFor();
      await route.continue();
    });
    await page.getByRole("button", { name: /Allow once/ }).click();
    await page.getByRole("article").getByText("denied this").waitFor();
    await page.getByRole("alert").filter({ hasText: /ann/ }).waitFor();
    await page.unroute("**/v1/approvals/*/decision");
    await other.context().close();
  });

  test("a viewer sees requests but cannot decide them", async () => {
    const { browser, service } = stage();
    const id = await ask(stage(), { command: `echo ${ASKS} four` });
    const page = await browser.signedIn(service.secrets.viewer);
    await visit(page, `#/approvals/${id}`);
    await page.getByText("Only approvers and operators can decide requests.").waitFor();
    assert.equal(await page.getByRole("button", { name: /Allow|Deny/ }).count(), 0);
    await page.context().close();
  });

  test("a request that is too large for an event is shown completely", async () => {
    const { page, gateway } = stage();
    await visit(page, "#/approvals");
    const id = await ask(stage(), { command: `echo ${ASKS} ${"x".repeat(100_000)} final part` });
    await page.getByRole("button", { name: new RegExp(`echo ${ASKS} x{100}`) }).waitFor();
    await visit(page, `#/approvals/${id}`);
    await page.getByRole("article").getByText("final part").waitFor();
    gateway.approvals.decide(id, { decision: "deny", who: "tester", channel: "library" });
    await page.getByRole("article").getByText("denied this").waitFor();
    assert.equal(await page.getByRole("article").getByText("final part").count(), 1);
  });

  test("later requests do not push a pending one out of the list", async () => {
    const { page, gateway } = stage();
    const id = await ask(stage(), { command: `echo ${ASKS} the oldest one` });
    const later: string[] = [];
    for (let n = 0; n < 205; n++) later.push(await ask(stage(), { command: `echo ${ASKS} later ${n}` }));
    for (const each of later) gateway.approvals.decide(each, { decision: "deny", who: "tester", channel: "library" });
    await page.reload();
    await visit(page, "#/approvals");
    await page.getByRole("list", { name: "Pending" }).getByText("the oldest one").waitFor();
    gateway.approvals.decide(id, { decision: "deny", who: "tester", channel: "library" });
  });
}
