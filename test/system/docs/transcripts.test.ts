import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { install } from "../../fixtures/installed.ts";
import { NO_NATS } from "../../fixtures/nats.ts";
import { missing } from "../../fixtures/on-path.ts";
import { Machines } from "./machines.ts";
import { type Page, pages, type Sample, samples } from "./pages.ts";
import { hasCommands, indentedLines, isRun, type Step, stepsOf } from "./steps.ts";

/** The blocks with commands that are not run here, by page and first line, and why. All others are. */
const NOT_RUN: Record<string, string> = {
  "README.md: scripts/try.sh": "the other script runs this test",
  "CONTRIBUTING.md: scripts/try.sh": "whole test runs, and benches",
  "docs/benchmarks.md: npm run bench": "takes minutes, and a quiet machine",
  "docs/getting-started.md: npm install -g sallyport": "test/system/pack installs the package",
  "docs/getting-started.md: claude mcp add": "not our program",
  "docs/guides/approve-remotely.md: sallyport serve --listen 100.64.0.7:4180": "needs a certificate and that address",
  "docs/guides/approve-remotely.md: sallyport serve --allow-host": "runs behind a proxy",
  "docs/guides/connect-an-agent.md: claude mcp add sallyport": "not our program",
  "docs/guides/connect-an-agent.md: claude mcp add --transport http": "not our program",
  "docs/guides/run-a-fleet.md: nats-server -js": "test/fixtures/nats.ts starts one, on a port of its own",
  "docs/guides/run-in-containers.md: docker run -d": "needs a container engine",
  "docs/guides/uninstall.md: rm -rf ~/.local/state/sallyport": "deletes files that other tests use",
  "docs/guides/upgrade.md: sallyport nodes drain": "needs two workers",
  "docs/keeper.md: ps -ef | grep 'keeper:'": "looks at everything on the machine",
  "docs/scale.md: node bench/fleet/scale.ts --workers 1000 --servers 1": "takes minutes, and much memory",
  "docs/terminals.md: $ sallyport run -it -- vim notes.txt": "a person types: test/integration/cli/attach.test.ts",
};

/** What the pages use that not every machine has. */
const PROGRAMS = ["curl", "git", "jq", "python3", "vim"];

const folder = mkdtempSync(join(tmpdir(), "sallyport-transcripts-"));
let program = "";
before(() => {
  program = install(join(folder, "package")).program;
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** The `shell` blocks of docs/cli.md are generated from the help; commands.test.ts checks their commands and options. */
function isHelp({ page, language }: Sample): boolean {
  return page === "docs/cli.md" && language === "shell";
}

function isLeftOut({ page, text }: Sample): boolean {
  return Object.keys(NOT_RUN).some((name) => `${page}: ${text}`.startsWith(name));
}

/** Why a page's commands cannot be tried on this machine; false: they can. */
function lacks(steps: Step[]): string | false {
  const uses = (program: string) => steps.some(({ command }) => new RegExp(`\\b${program}\\b`).test(command));
  const absent = PROGRAMS.filter(uses).map(missing).filter(Boolean);
  return (uses("nats") && NO_NATS) || absent[0] || false;
}

/** A page's blocks are run as they stand, one after the other. What is shown must be what comes. */
async function runPage({ path }: Page, steps: Step[]): Promise<void> {
  const machines = new Machines(program);
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
    .filter((sample) => isRun(sample) && !isLeftOut(sample))
    .flatMap(stepsOf);
  if (steps.length === 0) continue;
  const skip = lacks(steps);
  test(`${page.path}: its ${steps.length} commands answer as it shows`, { skip }, () => runPage(page, steps));
}

test("every block with commands is run, or says why it is not", () => {
  const all = pages();
  const unmarked = all.flatMap(samples).filter((sample) => !isRun(sample) && hasCommands(sample.text));
  const indented = all.flatMap(({ text }) => indentedLines(text));
  assert.deepEqual(
    unmarked.filter((sample) => !isLeftOut(sample) && !isHelp(sample)),
    [],
  );
  assert.deepEqual(indented.filter(hasCommands), []);
  const leftOut = all.flatMap(samples).filter(isLeftOut);
  assert.equal(leftOut.length, Object.keys(NOT_RUN).length, "one of those that are not run is gone");
});
