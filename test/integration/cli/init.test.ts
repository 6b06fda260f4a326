import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadConfig } from "../../../src/config/load.ts";
import { configJsonSchema } from "../../../src/config/schema.ts";
import { outcome, Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const box = new Sandbox();
const folder = mkdtempSync(join(tmpdir(), "sallyport-init-"));
const env = { XDG_CONFIG_HOME: folder };
const path = join(folder, "sallyport", "sallyport.json");
after(() => {
  box.remove();
  rmSync(folder, { recursive: true });
});

const settingsIn = (text: string) => {
  const operatorPath = join(folder, "tried.json");
  writeFileSync(operatorPath, text);
  return loadConfig({ workspace: box.folder, operatorPath }).settings;
};

test("writes the defaults without questions in a pipe, and prints the path", async () => {
  const { stdout, stderr, code } = await box.run(["init"], { env });
  assert.deepEqual([stdout, stderr, code], [`${path}\n`, "", 0]);
  const { sandbox, network, ask } = settingsIn(readFileSync(path, "utf8"));
  assert.deepEqual({ sandbox, network, ask }, { sandbox: "workspace-write", network: "on", ask: "on-miss" });
});

test("overwrites an existing file only with --force", async () => {
  writeFileSync(path, "{}");
  const refused = await box.run(["init"], { env });
  assert.equal(refused.code, 125);
  assert.match(refused.stderr, /already exists; use `--force`/);
  assert.equal(readFileSync(path, "utf8"), "{}");
  assert.equal((await box.run(["init", "--force", "--network", "off"], { env })).code, 0);
  assert.equal(settingsIn(readFileSync(path, "utf8")).network, "off");
});

test("--workspace writes to the current directory, and --print to stdout", async () => {
  const { stdout } = await box.run(["init", "--workspace", "--sandbox", "read-only"], { env });
  assert.equal(stdout, `${join(box.folder, "sallyport.json")}\n`);
  assert.equal(settingsIn(readFileSync(stdout.trim(), "utf8")).sandbox, "read-only");
  rmSync(stdout.trim());
  const printed = await box.run(["init", "--print", "--ask", "always"], { env: { XDG_CONFIG_HOME: `${folder}/none` } });
  assert.equal(settingsIn(printed.stdout).ask, "always");
});

test("explains every key, and each commented key can be uncommented", async () => {
  const { stdout } = await box.run(["init", "--print"]);
  const lines = stdout.split("\n");
  for (const key of Object.keys(configJsonSchema().properties ?? {})) {
    const index = lines.findIndex((line) =>
      line
        .replace(/^ *\/\/ /, "")
        .trim()
        .startsWith(`"${key}":`),
    );
    assert.ok(index >= 0, key);
    if (key !== "$schema") assert.match(lines[index - 1] ?? "", /^ {2}\/\/ \S/, key);
    const uncommented = lines.map((line, at) => (at === index ? line.replace("// ", "") : line)).join("\n");
    settingsIn(uncommented);
  }
});

test("asks three questions on a terminal, and repeats a question after an invalid answer", async () => {
  const config = join(box.folder, "config");
  // The program is not started through a gateway, because commands cannot access the configuration of their gateway.
  const { child, shows } = box.onTerminal(["init"], { env: { XDG_CONFIG_HOME: config } });
  const answer = async (question: RegExp, text: string) => {
    await until(`the terminal shows ${question}`, () => question.test(shows()));
    child.stdin?.write(text);
  };
  await answer(/write to\?[\s\S]*1 to 4/, "seven\r");
  await answer(/seven[\s\S]*1 to 4/, "3\r");
  await answer(/network\?[\s\S]*1 to 2/, "\r");
  await answer(/require approval\?[\s\S]*1 to 3/, "always\r");
  assert.equal((await outcome(child)).code, 0);
  const { sandbox, network, ask } = settingsIn(readFileSync(join(config, "sallyport", "sallyport.json"), "utf8"));
  assert.deepEqual({ sandbox, network, ask }, { sandbox: "isolated", network: "on", ask: "always" });
});

test("reports usage errors", async () => {
  for (const [args, message] of [
    [["--sandbox", "none"], /`--sandbox`/],
    [["here"], /unexpected argument `here`/],
  ] as const) {
    const { code, stderr } = await box.run(["init", ...args], { env });
    assert.equal(code, 125);
    assert.match(stderr, message);
  }
});

test("says that nothing runs where nothing confines commands, and offers to run commands anyway", async () => {
  const machine = { XDG_CONFIG_HOME: join(folder, "unconfined"), SALLYPORT_EXECUTOR: "portable" };
  const { stderr, code } = await box.run(["init"], { env: machine });
  assert.equal(code, 0);
  assert.match(stderr, /^Nothing on this machine confines commands, so none run[\s\S]*"require": false/);
  assert.equal((await box.run(["init", "--force", "--sandbox", "off"], { env: machine })).stderr, "");

  const { child, shows } = box.onTerminal(["init", "--force"], { env: machine });
  const ended = outcome(child);
  for (const [question, answer] of [
    ["May they run anyway?", "run"],
    ["What may commands write to?", "1"],
    ["May commands use the network?", "1"],
    ["When do commands require approval?", "1"],
  ] as const) {
    await until(question, () => shows().includes(question) && /\]: [^\n]*$/.test(shows()));
    child.stdin?.write(`${answer}\n`);
  }
  assert.equal((await ended).code, 0);
  const text = readFileSync(join(folder, "unconfined/sallyport/sallyport.json"), "utf8");
  assert.equal(settingsIn(text).require, false);
});
