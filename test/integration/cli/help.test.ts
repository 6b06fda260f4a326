import assert from "node:assert/strict";
import { after, test } from "node:test";
import { packageVersion } from "../../../src/core/version.ts";
import { commandHelp } from "../../fixtures/command-help.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
const commands = await commandHelp(box);
after(() => box.remove());

test("prints the first steps without arguments", async () => {
  const { stdout, code } = await box.run([]);
  assert.equal(code, 0);
  assert.match(stdout, /sallyport run -- /);
  assert.match(stdout, /sallyport --help/);
  for (const line of stdout.split("\n")) assert.ok(line.length <= 80, line);
});

test("prints only the version for --version and -V", async () => {
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

test("no line of help ends with a space", () => {
  for (const { name, text } of commands) assert.doesNotMatch(text, / $/m, name);
});

test("help loads no command files and no gateway", async () => {
  const traced = await box.run(["--help"], { env: { NODE_DEBUG: "esm" } });
  assert.doesNotMatch(traced.stderr, /cli\/commands\/|gateway\/open|zod/);
});

test("every command has usage, described options and commented examples, within 80 columns", () => {
  for (const { name, summary, text, options, examples, comments } of commands) {
    assert.match(text, new RegExp(`^Usage: sallyport ${name}\\b`));
    assert.ok(text.includes(`\n\n${summary}\n\n`), name);
    assert.ok(examples.length >= 2 && examples.every((example) => example.includes("sallyport ")), name);
    assert.equal(comments, examples.length, `${name}: an example has no comment`);
    for (const { long, meaning } of options) assert.match(meaning, /^[A-Z{].*[^.]$/, `${name} --${long}`);
    // Examples are not wrapped, so that they can be copied.
    const prose = text.replace(/^Examples:\n[\s\S]*/m, "").split("\n");
    for (const line of prose) assert.ok(line.length <= 80, `${name} --help: ${line}`);
  }
});

test("the help of a command is the same for --help, -h and help", async () => {
  const [option, word] = await Promise.all([box.run(["run", "-h"]), box.run(["help", "run"])]);
  assert.equal(option.stdout, word.stdout);
  assert.equal(option.stdout, commands.find(({ name }) => name === "run")?.text);
});

test("--help takes precedence over other arguments", async () => {
  assert.match((await box.run(["kill", "--help", "nothing"])).stdout, /^Usage: sallyport kill /);
  assert.match((await box.run(["--help", "run", "ls"])).stdout, /^Usage: sallyport run /);
});
