import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

/** The installed Chromium. The tests are skipped without one. */
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
export const WITHOUT_CHROMIUM = CHROMIUM === undefined ? "Chromium is not installed" : false;

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The time limit for each step. It is generous, because it only affects how long a failing test takes. */
const LONGEST_MS = 120_000;

const GUIDELINES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];

export type Look = "light" | "dark" | "phone";

export interface Violation {
  id: string;
  help: string;
  nodes: string[];
}

/** A browser shared by all tests of a file. It collects errors from all of its windows. */
export class TestBrowser {
  readonly #browser: Browser;
  readonly #url: string;
  readonly #shots: string;
  readonly #contexts: BrowserContext[] = [];
  /** Script errors, content security policy violations, and requests to other hosts. */
  readonly complaints: string[] = [];

  private constructor(browser: Browser, url: string) {
    this.#browser = browser;
    this.#url = url;
    this.#shots = process.env.KEEP_SHOTS ?? mkdtempSync(join(tmpdir(), "sallyport-shots-"));
    mkdirSync(this.#shots, { recursive: true });
  }

  static async open(url: string): Promise<TestBrowser> {
    // Chromium's own sandbox does not work as root.
    const args = [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-dev-shm-usage"];
    const browser = await chromium.launch({ executablePath: CHROMIUM as string, args, timeout: LONGEST_MS });
    return new TestBrowser(browser, url);
  }

  /** Opens a window that is not signed in. */
  async window(look: Look = "light"): Promise<Page> {
    const context = await this.#browser.newContext({
      baseURL: this.#url,
      viewport: look === "phone" ? { width: 360, height: 740 } : { width: 1280, height: 800 },
      colorScheme: look === "dark" ? "dark" : "light",
      reducedMotion: "reduce",
      locale: "en-GB",
    });
    context.setDefaultTimeout(LONGEST_MS);
    this.#contexts.push(context);
    const page = await context.newPage();
    page.on("pageerror", (error) => this.complaints.push(`error: ${error.message}`));
    page.on("console", (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) this.complaints.push(message.text());
    });
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== this.#url && protocol !== "data:" && protocol !== "blob:") this.complaints.push(request.url());
    });
    return page;
  }

  /** Opens a window and signs in with the secret of a link. */
  async signedIn(secret: string, look: Look = "light"): Promise<Page> {
    const page = await this.window(look);
    await page.goto(`/sign-in#${secret}`);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    return page;
  }

  async shot(page: Page, name: string): Promise<void> {
    await page.screenshot({ path: join(this.#shots, `${name}.png`) });
  }

  /** Returns the accessibility violations that axe finds, by all guidelines or by some rules only. */
  async axe(page: Page, rules: string[] | null = null): Promise<Violation[]> {
    await page.evaluate(AXE);
    const options = { resultTypes: ["violations"], runOnly: rules ?? GUIDELINES };
    const found = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as {
      violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
    };
    return found.violations.map(({ id, help, nodes }) => ({
      id,
      help,
      nodes: nodes.slice(0, 4).map(({ html, failureSummary }) => `${html.slice(0, 240)} :: ${failureSummary}`),
    }));
  }

  async close(): Promise<void> {
    await this.#browser.close();
    if (process.env.KEEP_SHOTS === undefined) rmSync(this.#shots, { recursive: true, force: true });
  }
}
