import assert from "node:assert/strict";
import { after, test } from "node:test";
import { CATALOG, commandNames } from "../../../src/cli/catalog.ts";
import { packageVersion } from "../../../src/core/version.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
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
  for (const entries of Object.values(CATALOG)) {
    for (const [name, { summary }] of Object.entries(entries))
      assert.ok(long?.stdout.includes(`  ${name.padEnd(11)}${summary}`));
  }
});

test("help loads no command and no gateway", async () => {
  const traced = await box.run(["--help"], { env: { NODE_DEBUG: "esm" } });
  assert.doesNotMatch(traced.stderr, /cli\/commands\/|gateway\/open|zod/);
});

test("every command has help with usage, described options and examples", async () => {
  for (const entries of Object.values(CATALOG)) {
    for (const [name, { summary, load }] of Object.entries(entries)) {
      const command = await load();
      assert.equal(command.name, name);
      assert.equal(command.summary, summary);
      assert.match(command.usage, new RegExp(`^sallyport ${name}\\b`));
      assert.ok(command.examples.length > 0, `${name} has examples`);
      for (const option of Object.keys(command.options))
        assert.ok(command.help?.[option], `${name} --${option} is described`);
    }
  }
});

test("a command's help is the same by --help, -h and help, and fits the window", async () => {
  for (const name of commandNames()) {
    const { stdout, code } = await box.run([name, "--help"]);
    assert.equal(code, 0);
    assert.match(stdout, /^Usage: sallyport /m);
    assert.match(stdout, /^Examples:$/m);
    // Examples are not broken: they are there to be copied.
    const prose = stdout.replace(/^Examples:\n( .*\n)+/m, "").split("\n");
    for (const line of prose) assert.ok(line.length <= 80, `${name} --help: ${line}`);
  }
  const [option, word] = await Promise.all([box.run(["run", "-h"]), box.run(["help", "run"])]);
  assert.equal(option.stdout, word.stdout);
});

test("--help wins over what else is on the line, but not inside the command to run", async () => {
  assert.match((await box.run(["kill", "--help", "nothing"])).stdout, /^Signal a session/);
  assert.match((await box.run(["--help", "run", "ls"])).stdout, /^Run a command/);
});
