import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { type Page, pages, ROOT, type Sample, samples } from "./pages.ts";

/**
 * Blocks marked `console` are run as they stand, a page's in one workspace and state folder: after `$ ` what is typed,
 * below it what it answers, `…` for any text and an id for any id. What is shown must be what comes.
 */
interface Step {
  command: string;
  expected: string;
  line: number;
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

function stepsOf({ text, line }: Sample): Step[] {
  const steps: Step[] = [];
  for (const [index, each] of text.split("\n").entries()) {
    const [, command] = /^\$ (.*)$/.exec(each) ?? [];
    const last = steps.at(-1);
    if (command !== undefined) steps.push({ command, expected: "", line: line + index + 1 });
    else if (last) last.expected += `${each}\n`;
  }
  return steps;
}

function patternOf(expected: string): RegExp {
  const parts = expected.trimEnd().replaceAll(ID, "…").split("…");
  const escaped = parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return new RegExp(`^${escaped.join("[\\s\\S]*?")}\\s*$`);
}

function runPage({ path }: Page, steps: Step[]): void {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-transcript-"));
  const [bin, home, workspace] = ["bin", "home", "project"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [bin, home, workspace]) mkdirSync(each);
  const entry = join(ROOT, "bin", "sallyport.js");
  writeFileSync(join(bin, "sallyport"), `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`);
  chmodSync(join(bin, "sallyport"), 0o755);
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin`,
    HOME: home,
    USER: "ada",
    LC_ALL: "C.UTF-8",
  };
  const shell = (command: string) =>
    spawnSync("bash", ["-c", `exec 2>&1; ${command}`], { cwd: workspace, env, encoding: "utf8", timeout: 60_000 });
  try {
    for (const { command, expected, line } of steps) {
      const { stdout } = shell(command);
      if (expected.trim() === "") assert.doesNotMatch(stdout, /^sallyport: /m, `${path}:${line}: ${command}`);
      else assert.match(stdout, patternOf(expected), `${path}:${line}: ${command}\n${stdout}`);
    }
  } finally {
    shell("sallyport rm -f $(sallyport ps -aq)");
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const page of pages()) {
  const steps = samples(page)
    .filter(({ language }) => language === "console")
    .flatMap(stepsOf);
  if (steps.length === 0) continue;
  test(`${page.path}: its ${steps.length} commands answer as it shows`, () => runPage(page, steps));
}
