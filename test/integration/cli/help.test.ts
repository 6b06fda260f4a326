import assert from "node:assert/strict";
import { after, test } from "node:test";
import { packageVersion } from "../../../src/core/version.ts";
import { commandHelp } from "../../fixtures/command-help.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
const commands = await commandHelp(box);
after(() => box.remove());

test("alone it says what to do next", async () => {
  const { stdout, code } = await box.run([]);
  assert.equal(code, 0);
  assert.match(stdout, /sallyport run -- /);
  assert.match(stdout, /sallyport --help/);
  for (const line of stdout.split("\n")) assert.ok(line.length <= 80, line);
});

test("--version and -V print the version alone", async () => {
  for (const args of [["--version"], ["-V"], ["ps", "--version"]]) {
    assert.equal((await box.run(args)).stdout, `${packageVersion()}\n`);
  }
});

test("--help, -h and help list every command with its summary", async () => {
  const [long, short, word] = await Promise.all([["--help"], ["-h"], ["help"]].map((args) => box.run(args)));
  assert.equal(long?.stdout, short?.stdout);
  assert.equal(long?.stdout, word?.stdout);
  for (const name of ["run", "ps", "approvals", "serve", "doctor", "completion"]) {
    assert.ok(
      commands.some((command) => command.name === name),
      name,
    );
  }
});

test("help loads no command and no gateway", async () => {
  const traced = await box.run(["--help"], { env: { NODE_DEBUG: "esm" } });
  assert.doesNotMatch(traced.stderr, /cli\/commands\/|gateway\/open|zod/);
});

test("every command has help with usage, described options and examples that fits the window", () => {
  for (const { name, summary, text, options, examples } of commands) {
    assert.ok(text.startsWith(`${summary}.\n`), name);
    assert.match(text, new RegExp(`^Usage: sallyport ${name}\\b`, "m"));
    assert.ok(
      examples.length > 0 && examples.every((example) => example.includes("sallyport ")),
      `${name} has examples`,
    );
    for (const { long, meaning } of options) assert.notEqual(meaning, "", `${name} --${long} is described`);
    // Examples are not broken: they are there to be copied.
    const prose = text.replace(/^Examples:\n( .*\n)+/m, "").split("\n");
    for (const line of prose) assert.ok(line.length <= 80, `${name} --help: ${line}`);
  }
});

test("a command's help is the same by --help, -h and help", async () => {
  const [option, word] = await Promise.all([box.run(["run", "-h"]), box.run(["help", "run"])]);
  assert.equal(option.stdout, word.stdout);
  assert.equal(option.stdout, commands.find(({ name }) => name === "run")?.text);
});

test("--help wins over what else is on the line, but not inside the command to run", async () => {
  assert.match((await box.run(["kill", "--help", "nothing"])).stdout, /^Signal a session/);
  assert.match((await box.run(["--help", "run", "ls"])).stdout, /^Run a command/);
});
