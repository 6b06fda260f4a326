import type { Page } from "playwright-core";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { TestService } from "../../fixtures/service.ts";
import { TestBrowser } from "./browser.ts";
import { builtPage } from "./built-page.ts";

/** Commands that contain this text stay pending; all others are approved at once. */
export const ASKS = "ask-me";

const ESC = "\\033";
/** Output with HTML and escape sequences that must have no effect on the page. */
export const HOSTILE = [
  "<script>window.owned = 1</script><img src=x onerror=window.owned=2>",
  `${ESC}]0;owned title\\007`,
  `${ESC}]52;c;b3duZWQ=\\007`,
  `${ESC}]8;;https://evil.example/\\007innocent${ESC}]8;;\\007`,
  "\\342\\200\\256txt.exe",
].join("");

/** A service with sessions, a browser, and a window signed in as an operator, shared by all tests. */
export interface Stage {
  service: TestService;
  gateway: Gateway;
  browser: TestBrowser;
  page: Page;
  /** Session IDs by session name. */
  ids: Record<string, string>;
  close(): Promise<void>;
}

export async function setStage(): Promise<Stage> {
  const built = builtPage();
  const service = await TestService.start({
    serve: { pageFolder: built.folder },
    gateway: {
      approve: async ({ request }) =>
        request.command.text.includes(ASKS) ? null : { decision: "once", who: "tester" },
    },
  });
  const { gateway } = service;
  const ids: Record<string, string> = {};
  const start = async (name: string, command: string, more = {}) => {
    ids[name] = (await gateway.start({ command, name, ...more })).id;
  };
  await start("greeter", "echo to stdout; echo to stderr >&2; exit 3");
  await start("hostile", `printf '${HOSTILE}\\n${ESC}[1;31mred${ESC}[m plain\\n'`);
  await start("counter", "seq 1 1500000");
  await start("ticker", "while read -r line; do echo got $line; done", { stdin: "open" });
  await start("sleepers", "sleep 7001 & sleep 7002 & wait", { intent: "wait for <b>nothing</b>" });
  await start("terminal", `printf '${HOSTILE}${ESC}[c${ESC}[6n${ESC}]11;?\\007ready$ '; cat`, {
    pty: true,
    size: { columns: 80, rows: 24 },
  });
  await Promise.all(["greeter", "hostile", "counter"].map((name) => gateway.session(name).wait()));
  const browser = await TestBrowser.open(service.url);
  const page = await browser.signedIn(service.link());
  return {
    service,
    gateway,
    browser,
    page,
    ids,
    close: async () => {
      await browser.close();
      for (const { id } of gateway.list({ live: true })) await gateway.session(id).remove({ force: true });
      await service.close();
      built.dispose();
    },
  };
}

/** Navigates to another page by its hash, as a link does. */
export async function visit(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
}
