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

/** The blocks of commands that this test does not run, by page and start of the block, with the reason. */
const NOT_RUN: Record<string, string> = {
  "README.md: scripts/try.sh": "scripts/test.sh runs this test",
  "CONTRIBUTING.md: scripts/try.sh": "runs the whole test suite and the benchmarks",
  "CONTRIBUTING.md: npm run hosts": "installs agent hosts, which takes minutes and 2 GB",
  "CONTRIBUTING.md: npm run build": "builds and boots virtual machines",
  "CONTRIBUTING.md: podman run": "needs Podman, and runs the escape attempts, which are tests themselves",
  "CONTRIBUTING.md: scripts/vm.sh build": "builds and boots virtual machines",
  "docs/agent-profiles.md: sallyport agent claude-code": "needs Claude Code; test/integration/cli/agent.test.ts",
  "docs/benchmarks.md: npm run bench": "takes minutes and needs an idle machine",
  "docs/durability.md: npm run powercut": "takes minutes; test/system/powercut has a short version",
  "docs/getting-started.md: npm install -g sallyport": "test/system/pack installs the package",
  "docs/guides/approve-remotely.md: sallyport serve --listen 100.64.0.7:4180": "needs a certificate and this address",
  "docs/guides/approve-remotely.md: sallyport serve --allow-host": "needs a proxy",
  "docs/guides/connect-an-agent.md: claude mcp add --transport http": "claude is not part of Sallyport",
  "docs/guides/run-an-agent-guarded.md: cd ~/my-project": "needs Claude Code",
  "docs/guides/run-an-agent-guarded.md: sallyport agent codex": "needs Codex",
  "docs/guides/run-an-agent-guarded.md: sallyport agent gemini": "needs Gemini CLI",
  "docs/guides/run-a-fleet.md: nats-server -js": "test/fixtures/nats.ts starts a server on a free port",
  "docs/guides/run-as-a-service.md: sallyport service install": "needs systemd",
  "docs/guides/run-as-a-service.md: sallyport token link": "needs a running service",
  "docs/guides/run-as-a-service.md: sallyport kill": "needs systemd",
  "docs/guides/run-on-ubuntu.md: sallyport doctor --fix": "installs an AppArmor profile",
  "docs/guides/run-in-containers.md: docker run -d": "needs a container engine",
  'docs/guides/uninstall.md: rm -rf "$(cat': "deletes files that other tests use",
  "docs/guides/upgrade.md: sallyport nodes drain": "needs two workers",
  "docs/keeper.md: ps -ef | grep 'keeper:'": "lists all processes of the machine",
  "docs/resident-gateway.md: sallyport run -- make": "a diagram",
  "docs/scale.md: node bench/fleet/scale.ts --workers 1000 --servers 1": "takes minutes and much memory",
  "docs/terminals.md: $ sallyport run -it -- vim notes.txt": "interactive; see test/integration/cli/attach.test.ts",
};

/** The programs on the pages that are not installed on every machine. */
const PROGRAMS = ["curl", "git", "jq", "python3", "vim"];

const folder = mkdtempSync(join(tmpdir(), "sallyport-transcripts-"));
let program = "";
before(() => {
  program = install(join(folder, "package")).program;
});
after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * The `shell` blocks of docs/cli.md are generated from the help; commands.test.ts checks their commands and options.
 */
function isHelp({ page, language }: Sample): boolean {
  return page === "docs/cli.md" && language === "shell";
}

function isLeftOut({ page, text }: Sample): boolean {
  return Object.keys(NOT_RUN).some((name) => `${page}: ${text}`.startsWith(name));
}

/** Returns why the commands of a page cannot run on this machine, or false when they can. */
function skipReason(steps: Step[]): string | false {
  const uses = (program: string) => steps.some(({ command }) => new RegExp(`\\b${program}\\b`).test(command));
  const absent = PROGRAMS.filter(uses).map(missing).filter(Boolean);
  return (uses("nats") && NO_NATS) || absent[0] || false;
}

/** Runs the steps of a page in order and compares each output with the one that the page shows. */
async function runPage({ path }: Page, steps: Step[]): Promise<void> {
  const machines = new Machines(program);
  try {
    for (const step of steps) {
      const mismatch = await machines.mismatch(step);
      assert.equal(mismatch, null, `${path}:${step.line}: ${step.command}\n${mismatch}`);
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
  const skip = skipReason(steps);
  test(`the ${steps.length} commands on ${page.path} print the output shown`, { skip }, () => runPage(page, steps));
}

test("every block of commands is run or listed with a reason", () => {
  const all = pages();
  const unmarked = all.flatMap(samples).filter((sample) => !isRun(sample) && hasCommands(sample.text));
  const indented = all.flatMap(({ text }) => indentedLines(text));
  assert.deepEqual(
    unmarked.filter((sample) => !isLeftOut(sample) && !isHelp(sample)),
    [],
  );
  assert.deepEqual(indented.filter(hasCommands), []);
  const leftOut = all.flatMap(samples).filter(isLeftOut);
  assert.equal(leftOut.length, Object.keys(NOT_RUN).length, "NOT_RUN lists a block that no longer exists");
});
