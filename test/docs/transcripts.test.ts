import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_NATS } from "../fixtures/nats.ts";
import { type Page, pages, samples } from "./pages.ts";
import { Machines, type Step, stepsOf } from "./transcript.ts";

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
