import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../fixtures/until.ts";
import { type Stage, visit } from "../stage.ts";

export function sessionFlows(stage: () => Stage): void {
  test("streams are told apart, and output is only ever text", async () => {
    const { page, ids } = stage();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await visit(page, `#/session/${ids.greeter}`);
    await page.locator(".log-row[data-stream=stderr]", { hasText: "to stderr" }).waitFor();
    await page.getByRole("button", { name: "stdout" }).click();
    await page.locator(".log-row", { hasText: "to stdout" }).waitFor();
    await page.getByText("to stderr", { exact: true }).waitFor({ state: "detached" });
    // What is asked for again and again without need shows up here.
    assert.ok(asked.filter((path) => path === `/v1/sessions/${ids.greeter}`).length <= 2);

    await visit(page, `#/session/${ids.hostile}`);
    const line = page.locator(".log-row", { hasText: "<script>" });
    await line.waitFor();
    assert.match(await line.innerText(), /innocent\\u\{202e\}txt\.exe/);
    assert.equal(await page.locator(".log-view script, .log-view img, .log-view a").count(), 0);
    await page.locator(".log-row .fg1.b", { hasText: "red" }).waitFor();
    assert.equal(await page.evaluate("window.owned"), undefined);
    assert.doesNotMatch(await page.title(), /owned/);
    await page.getByRole("button", { name: "Control characters" }).click();
    await page.locator(".log-row .hidden-char", { hasText: "\\e]52;c;" }).waitFor();
    await page.getByRole("button", { name: "Times" }).click();
    await page
      .locator(".log-time", { hasText: /\d\d:\d\d:\d\d\.\d{3}/ })
      .first()
      .waitFor();
  });

  test("a long log opens at once, scrolls anywhere and is searched", async () => {
    const { page, ids } = stage();
    await visit(page, `#/session/${ids.counter}`);
    const view = page.locator(".log-view");
    await page.locator(".log-row", { hasText: /^1$/ }).waitFor();
    assert.ok((await page.locator(".log-row").count()) < 250);
    await view.evaluate((element) => {
      element.scrollTop = element.scrollHeight / 2;
    });
    await until("lines of the middle are there", async () => {
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

  test("what is written is followed", async () => {
    const { page, ids, gateway } = stage();
    await visit(page, `#/session/${ids.ticker}`);
    await page.getByText("Nothing written yet.").waitFor();
    await gateway.session("ticker").write("one\ntwo\n");
    await page.locator(".log-row", { hasText: "got two" }).waitFor();
    await gateway.session("ticker").write("three\n");
    await page.locator(".log-row", { hasText: "got three" }).waitFor();
  });

  test("a flood is skipped through to its end", async () => {
    const { page, gateway } = stage();
    const command = "read -r line; seq 1 800000; read -r line; echo that was it";
    const session = await gateway.start({ command, name: "flood", stdin: "open" });
    await visit(page, `#/session/${session.id}`);
    await page.getByText("Nothing written yet.").waitFor();
    await session.write("go\n");
    await page.locator(".log-row", { hasText: /^800000$/ }).waitFor();
    await session.write("go\n");
    await page.locator(".log-row", { hasText: "that was it" }).waitFor();
    await page.getByRole("button", { name: "To the end" }).waitFor();
  });

  test("the tree, the charts and the facts of a session", async () => {
    const { page, ids } = stage();
    await visit(page, `#/session/${ids.sleepers}`);
    await page.getByRole("tab", { name: "Processes" }).click();
    await page.getByRole("row", { name: /^└? ?sleep 7001/ }).waitFor();
    await page.getByRole("tab", { name: "Usage" }).click();
    await page.locator(".chart canvas").first().waitFor();
    await page.getByRole("tab", { name: "Facts" }).click();
    await page.getByText("sleep 7001 & sleep 7002 & wait").first().waitFor();
    await page.getByText("wait for <b>nothing</b>").first().waitFor();
    await page.getByRole("heading", { name: "The verdict" }).waitFor();
  });

  test("a deadline is moved, and what will die is named before it does", async () => {
    const { page, ids, gateway } = stage();
    await visit(page, `#/session/${ids.sleepers}`);
    await page.getByRole("button", { name: "Extend…" }).click();
    await page.getByLabel("1h").check();
    await page.getByRole("button", { name: "Move the deadline" }).click();
    await until("it has one", () => gateway.session("sleepers").info().timeoutMs > 0);

    const victim = await gateway.start({ command: "sleep 7003 & wait", name: "victim" });
    await visit(page, `#/session/${victim.id}`);
    await page.getByRole("button", { name: "Kill…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("2 processes will die:").waitFor();
    await dialog.getByRole("listitem").filter({ hasText: "sleep 7003" }).last().waitFor();
    await dialog.getByLabel(/^Why/).fill("no longer needed");
    await dialog.getByRole("button", { name: "End it: victim" }).click();
    await page.locator(".session-head .status").getByText("SIGTERM").waitFor();
    const [entry] = gateway.audit.search({ session: victim.id, kind: "signal" });
    assert.equal(entry?.actor, "tester");
    await page.getByRole("button", { name: "Remove…" }).click();
    await page.getByRole("button", { name: "Remove victim" }).click();
    await page.getByRole("heading", { name: "Now" }).waitFor();
  });
}
