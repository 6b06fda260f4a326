import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../fixtures/until.ts";
import { type Stage, visit } from "../stage.ts";

export function sessionListFlows(stage: () => Stage): void {
  test("a sign-in link works once and leaves no secret in the URL", async () => {
    const { page, browser, service } = stage();
    assert.equal(new URL(page.url()).pathname, "/");
    assert.doesNotMatch(page.url(), /[\w-]{43}/);
    const secret = service.link();
    const second = await browser.signedIn(secret);
    await second.evaluate(() => localStorage.clear());
    await second.goto("about:blank");
    await second.goto(`/sign-in#${secret}`);
    await second.getByRole("alert").waitFor();
    assert.match(await second.getByRole("alert").innerText(), /\S/);
    await second.getByLabel("One-time secret or token").fill(service.secrets.viewer);
    await second.keyboard.press("Enter");
    await second.getByText("vera").first().waitFor();
    await second.getByRole("button", { name: "Sign out" }).click();
    await second.getByRole("heading", { name: "Sallyport" }).waitFor();
    await second.context().close();
  });

  test("a new session appears without a reload, and its status is kept current", async () => {
    const { page, gateway } = stage();
    await visit(page, "#/now");
    await page.getByRole("heading", { name: "Sessions" }).waitFor(); // the former name of the page
    const session = await gateway.start({ command: "echo fresh; read -r line", name: "fresh", stdin: "open" });
    const row = page.getByRole("row").filter({ hasText: "fresh" });
    await row.getByText("running").waitFor();
    await session.write("end\n");
    await row.getByText("completed").waitFor();
    await session.remove();
    await row.waitFor({ state: "detached" });
  });

  test("all windows of a browser share one event stream, and another takes over when its owner closes", async () => {
    const { page, gateway, browser, service } = stage();
    const first = await browser.signedIn(service.link());
    const others = await Promise.all(Array.from({ length: 6 }, () => first.context().newPage()));
    await Promise.all(others.map((each) => each.goto("/")));
    const session = await gateway.start({ command: "read -r line", name: "shared", stdin: "open" });
    for (const each of others) await each.getByRole("row").filter({ hasText: "shared" }).getByText("running").waitFor();
    await first.close();
    await session.write("end\n");
    for (const each of others)
      await each.getByRole("row").filter({ hasText: "shared" }).getByText("completed").waitFor();
    await others[0]?.context().close();
    await visit(page, "#/sessions");
    await session.remove();
  });

  test("keyboard shortcuts find, select and open a session", async () => {
    const { page } = stage();
    await visit(page, "#/sessions");
    await page.locator("main").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("greeter");
    await page.keyboard.press("Enter");
    await page.getByRole("row").filter({ hasText: "greeter" }).locator("a:focus").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "greeter" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Next match").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
  });

  test("a status filter limits the list", async () => {
    const { page } = stage();
    await visit(page, "#/sessions");
    await page.getByLabel("Search sessions").fill("");
    await page.getByRole("button", { name: /^Failed/ }).click();
    await page.getByRole("row").filter({ hasText: "greeter" }).getByText("exit 3", { exact: true }).waitFor();
    await page.getByRole("row").filter({ hasText: "sleepers" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^All/ }).click();
  });

  test("only the visible rows of a long list are rendered", async () => {
    const { page, gateway } = stage();
    const many = Array.from({ length: 150 }, () => gateway.run({ command: "true", args: [] }));
    await Promise.all(many);
    await visit(page, "#/sessions");
    const table = page.getByRole("table", { name: "Sessions" });
    await until("all rows are counted", async () => Number(await table.getAttribute("aria-rowcount")) > 150);
    assert.ok((await table.getByRole("row").count()) < 60);
    await page.locator("main").focus();
    await page.keyboard.press("End");
    await page.getByRole("row").filter({ hasText: "greeter" }).locator("a:focus").waitFor();
  });
}
