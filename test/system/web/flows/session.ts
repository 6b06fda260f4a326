import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../fixtures/until.ts";
import { type Stage, visit } from "../stage.ts";

export function sessionFlows(stage: () => Stage): void {
  test("the log separates stdout and stderr, and shows output only as text", async () => {
    const { page, ids } = stage();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await visit(page, `#/session/${ids.greeter}`);
    await page.locator(".log-row[data-stream=stderr]", { hasText: "to stderr" }).waitFor();
    await page.getByRole("button", { name: "stdout" }).click();
    await page.locator(".log-row", { hasText: "to stdout" }).waitFor();
    await page.getByText("to stderr", { exact: true }).waitFor({ state: "detached" });
    // The page must not request the session repeatedly.
    assert.ok(asked.filter((path) => path === `/v1/sessions/${ids.greeter}`).length <= 2);

    await visit(page, `#/session/${ids.hostile}`);
    const line = page.locator(".log-row", { hasText: "<script>" });
    await line.waitFor();
    assert.match(await line.innerText(), /innocent‹U\+202E›txt\.exe/);
    assert.equal(await page.locator(".log-view script, .log-view img, .log-view a").count(), 0);
    await page.locator(".log-row .fg1.b", { hasText: "red" }).waitFor();
    assert.equal(await page.evaluate("window.owned"), undefined);
    assert.doesNotMatch(await page.title(), /owned/);
    await page.getByRole("button", { name: "Control characters" }).click();
    await page.locator(".log-row .hidden-char", { hasText: "‹escape›]52;c;" }).waitFor();
    await page.getByRole("button", { name: "Timestamps" }).click();
    await page
      .locator(".log-time", { hasText: /\d\d:\d\d:\d\d\.\d{3}/ })
      .first()
      .waitFor();
  });

  test("a long log opens at any position and can be searched", async () => {
    const { page, ids } = stage();
    await visit(page, `#/session/${ids.counter}`);
    const view = page.locator(".log-view");
    await page.locator(".log-row", { hasText: /^1$/ }).waitFor();
    assert.ok((await page.locator(".log-row").count()) < 250);
    await view.evaluate((element) => {
      element.scrollTop = element.scrollHeight / 2;
    });
    await until("lines from the middle are shown", async () => {
      const line = Number(
        await page
          .locator(".log-row")
          .first()
          .innerText()
          .catch(() => "0"),
      );
      return line > 400_000 && line < 1_100_000;
    });
    await view.focus();
    await page.keyboard.press("End");
    await page.locator(".log-row", { hasText: /^1500000$/ }).waitFor();
    await page.keyboard.press("Home");
    await page.locator(".log-row", { hasText: /^1$/ }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("1234567");
    await page.keyboard.press("Enter");
    await page.locator(".log-row mark.found", { hasText: "1234567" }).waitFor();
  });

  test("the log follows new output", async () => {
    const { page, ids, gateway } = stage();
    await visit(page, `#/session/${ids.ticker}`);
    await page.getByText("No output yet").waitFor();
    await gateway.session("ticker").write("one\ntwo\n");
    await page.locator(".log-row", { hasText: "got two" }).waitFor();
    await gateway.session("ticker").write("three\n");
    await page.locator(".log-row", { hasText: "got three" }).waitFor();
  });

  test("the log skips to the end of a flood of output", async () => {
    const { page, gateway } = stage();
    const command = "read -r line; seq 1 800000; read -r line; echo that was it";
    const session = await gateway.start({ command, name: "flood", stdin: "open" });
    await visit(page, `#/session/${session.id}`);
    await page.getByText("No output yet").waitFor();
    await session.write("go\n");
    await page.locator(".log-row", { hasText: /^800000$/ }).waitFor();
    await session.write("go\n");
    await page.locator(".log-row", { hasText: "that was it" }).waitFor();
    await page.getByRole("button", { name: "Go to end" }).waitFor();
  });

  test("the page of a session shows its process tree, charts and details", async () => {
    const { page, ids } = stage();
    await visit(page, `#/session/${ids.sleepers}`);
    await page.getByRole("tab", { name: "Processes" }).click();
    await page.getByRole("row", { name: /^└? ?sleep 7001/ }).waitFor();
    await page.getByRole("tab", { name: "Usage" }).click();
    await page.locator(".chart canvas").first().waitFor();
    await page.getByRole("tab", { name: "Details" }).click();
    await page.getByText("sleep 7001 & sleep 7002 & wait").first().waitFor();
    await page.getByText("wait for <b>nothing</b>").first().waitFor();
    await page.getByRole("heading", { name: "Verdict" }).waitFor();
  });

  test("a deadline can be changed, and the stop dialog lists the processes that will be stopped", async () => {
    const { page, ids, gateway } = stage();
    await visit(page, `#/session/${ids.sleepers}`);
    await page.getByRole("button", { name: "Deadline…" }).click();
    await page.getByLabel("1h").check();
    await page.getByRole("button", { name: "Change deadline" }).click();
    await until("the session has a deadline", () => gateway.session("sleepers").info().timeoutMs > 0);

    const victim = await gateway.start({ command: "sleep 7003 & wait", name: "victim" });
    await visit(page, `#/session/${victim.id}`);
    await page.getByRole("button", { name: "Stop…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("2 processes will be stopped:").waitFor();
    await dialog.getByRole("listitem").filter({ hasText: "sleep 7003" }).last().waitFor();
    await dialog.getByLabel(/^Reason/).fill("no longer needed");
    await dialog.getByRole("button", { name: "Stop victim" }).click();
    await page.locator(".session-head .status").getByText("SIGTERM").waitFor();
    const [entry] = gateway.audit.search({ session: victim.id, kind: "signal" });
    assert.equal(entry?.actor, "tester");
    await page.getByRole("button", { name: "Remove…" }).click();
    await page.getByRole("button", { name: "Remove victim" }).click();
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
  });
}
