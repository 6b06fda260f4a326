import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../fixtures/until.ts";
import { type Stage, visit } from "../stage.ts";

export function terminalFlows(stage: () => Stage): void {
  test("an operator watches a live terminal and types into it, and the terminal answers no queries", async () => {
    const { page, ids } = stage();
    const sent: string[] = [];
    page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => sent.push(String(payload))));
    await visit(page, `#/session/${ids.terminal}`);
    const screen = page.locator(".terminal-place .xterm-rows");
    await screen.getByText("ready$").waitFor();
    await page.getByText("Live", { exact: true }).last().waitFor();
    assert.doesNotMatch(await page.title(), /owned/);
    await page.getByRole("button", { name: "Take control" }).click();
    // The program's earlier queries must stay unanswered: only typed input may be sent.
    await page.keyboard.type("hello there\n");
    await until(
      "the terminal echoes the input",
      async () => (await screen.innerText()).match(/hello there/g)?.length === 2,
    );
    const typed = sent.flatMap((frame) => {
      const message = JSON.parse(frame) as { type: string; data?: string };
      return message.type === "input" ? [message.data ?? ""] : [];
    });
    assert.equal(typed.join(""), "hello there\r");
    await page.getByRole("button", { name: "Release control" }).click();
  });

  test("a viewer watches a terminal but cannot type", async () => {
    const { browser, service, ids } = stage();
    const page = await browser.signedIn(service.secrets.viewer);
    await visit(page, `#/session/${ids.terminal}`);
    await page.locator(".xterm-rows").getByText("ready$").waitFor();
    assert.equal(await page.getByRole("button", { name: "Take control" }).count(), 0);
    assert.equal(await page.getByRole("button", { name: "Stop…" }).count(), 0);
    await page.context().close();
  });

  test("a recording can be replayed from any point in time", async () => {
    const { page, ids } = stage();
    await visit(page, `#/session/${ids.terminal}?tab=replay`);
    const screen = page.locator(".terminal-place .xterm-rows");
    await screen.getByText("ready$").waitFor();
    const line = page.getByRole("slider", { name: "Time" });
    await line.fill("0");
    await until("the replay starts over", async () => !(await screen.innerText()).includes("hello there"));
    await page.getByRole("button", { name: "16×" }).click();
    await page.getByRole("button", { name: "Play" }).click();
    await screen.getByText("hello there").first().waitFor();
  });
}
