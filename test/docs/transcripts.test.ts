import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_NATS } from "../fixtures/nats.ts";
import { type Page, pages, samples } from "./pages.ts";
import { Machines, type Step, stepsOf } from "./transcript.ts";

/** Pages with commands of which none is run here, and why. */
const NOT_RUN: Record<string, string> = {
  "docs/cli.md": "shows tables, figures and times as a person had them; test/surfaces/cli runs every command",
  "docs/fleet.md": "needs several machines; README.md has the same, and test/fleet all of it",
  "docs/fleet-security.md": "needs a server with keys for each member: test/fleet/permissions.test.ts has one",
  "docs/mcp.md": "is about configuring hosts: samples.test.ts checks those lines, test/surfaces/mcp the server",
};

/** Blocks marked `console` are run as they stand, a page's one after the other. What is shown must be what comes. */
async function runPage({ path }: Page, steps: Step[]): Promise<void> {
  const machines = new Machines();
  try {
    for (const step of steps) {
      const wrong = await machines.wrong(step);
      assert.equal(wrong, null, `${path}:${step.line}: ${step.command}\n${wrong}`);
    }
  } finally {
    await machines.close();
  }
}

for (const page of pages()) {
  const steps = samples(page)
    .filter(({ language }) => language === "console")
    .flatMap(stepsOf);
  if (steps.length === 0) continue;
  const skip = steps.some(({ command }) => command.includes("nats://")) && NO_NATS;
  test(`${page.path}: its ${steps.length} commands answer as it shows`, { skip }, () => runPage(page, steps));
}

test("every page with commands has some that are run, or a reason", () => {
  const silent = pages().filter((page) => {
    const blocks = samples(page);
    const commands = blocks.filter(({ language, text }) => /^(sh)?$/.test(language) && /^(\$ )?sallyport /m.test(text));
    return commands.length > 0 && !blocks.some(({ language }) => language === "console");
  });
  assert.deepEqual(silent.map(({ path }) => path).sort(), Object.keys(NOT_RUN).sort());
});
