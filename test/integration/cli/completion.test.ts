import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openGateway } from "../../../src/index.ts";
import { commandHelp } from "../../fixtures/command-help.ts";
import { ENTRY, Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
const commands = await commandHelp(box);
const bin = join(box.folder, "bin");
const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: box.folder, SALLYPORT_STATE: box.state, TERM: "xterm" };

before(async () => {
  mkdirSync(bin);
  writeFileSync(join(bin, "sallyport"), `#!/bin/sh\nexec '${process.execPath}' '${ENTRY}' "$@"\n`);
  chmodSync(join(bin, "sallyport"), 0o755);
  await box.run(["run", "-d", "--name", "web-server", "--", "sleep", "300"]);
  await box.run(["run", "--name", "over-already", "--", "true"]);
  for (const shell of ["bash", "zsh", "fish"]) {
    writeFileSync(join(box.folder, `script.${shell}`), (await box.run(["completion", shell])).stdout);
  }
});

after(async () => {
  await box.run(["kill", "-s", "KILL", "web-server"]);
  box.remove();
});

/** Returns the completions of the last word. */
type Complete = (...words: string[]) => string[];

function inBash(...words: string[]): string[] {
  const line = words.map((word) => `'${word}'`).join(" ");
  const script = `source ${box.folder}/script.bash; COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _sallyport; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return linesOf(execFileSync("bash", ["--norc", "-c", script], { env, encoding: "utf8" }));
}

function inFish(...words: string[]): string[] {
  const script = `source ${box.folder}/script.fish; complete -C '${words.join(" ")}'`;
  return linesOf(execFileSync("fish", ["--no-config", "-c", script], { env, encoding: "utf8" })).map(
    (line) => line.split("\t")[0] ?? "",
  );
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function lacks(shell: string): string | false {
  return spawnSync(shell, ["-c", "true"]).status === 0 ? false : `${shell} is not installed`;
}

const SHELLS: [string, Complete][] = [
  ["bash", inBash],
  ["fish", inFish],
];

for (const [shell, complete] of SHELLS) {
  const options = { skip: lacks(shell) };

  test(`${shell} completes command names`, options, () => {
    assert.deepEqual(complete("sallyport", "app").sort(), ["approvals", "approve"]);
    const all = complete("sallyport", "");
    for (const { name } of commands) assert.ok(all.includes(name), name);
  });

  test(`${shell} completes every option of every command`, options, () => {
    for (const { name, options: own } of commands) {
      const offered = complete("sallyport", name, "--");
      for (const { long } of own) assert.ok(offered.includes(`--${long}`), `${name} --${long}`);
    }
  });

  test(`${shell} completes option values and subcommands`, options, () => {
    assert.deepEqual(complete("sallyport", "run", "--sandbox", "iso"), ["isolated"]);
    assert.deepEqual(complete("sallyport", "audit", "ver"), ["verify"]);
  });

  test(`${shell} completes the current sessions`, options, () => {
    assert.deepEqual(complete("sallyport", "kill", "w"), ["web-server"]);
    assert.deepEqual(complete("sallyport", "kill", "over"), []);
    assert.deepEqual(complete("sallyport", "logs", "over"), ["over-already"]);
  });

  test(`${shell} completes the command to run`, options, () => {
    assert.ok(complete("sallyport", "run", "--", "uptim").includes("uptime"));
  });
}

const approve = async () => ({ decision: "once" as const, who: "somebody" });

test("zsh completes commands, options and sessions", { skip: lacks("zsh") }, async () => {
  const gateway = await openGateway({
    workspace: box.folder,
    state: box.state,
    configuration: null,
    policy: { sandbox: "off" },
    approve,
  });
  // zsh runs without a sandbox, so that it can access the state folder. `approve` approves this.
  const zsh = await gateway.start({ command: "zsh", args: ["-f"], pty: true, size: { columns: 150, rows: 50 } });
  // Keys typed before the line editor reads are lost.
  const atPrompt = async () =>
    assert.equal(
      (await zsh.waitFor({ input: true, timeoutMs: 60_000 })).reason,
      "input",
      "the shell does not wait for keys",
    );
  const type = async (text: string, shows: RegExp) => {
    await atPrompt();
    await zsh.paste(text);
    await atPrompt();
    await zsh.sendKeys(["Tab"]);
    assert.equal((await zsh.waitFor({ pattern: shows, timeoutMs: 60_000 })).reason, "pattern", String(shows));
    await zsh.sendKeys(["C-u"]);
  };
  try {
    const exports = `export PATH=${bin}:$PATH SALLYPORT_STATE=${box.state}`;
    const load = `autoload -U compinit; compinit -D; source ${box.folder}/script.zsh`;
    await atPrompt();
    await zsh.paste(`${exports}; ${load}; echo re""ady`, { submit: true });
    assert.equal((await zsh.waitFor({ pattern: /ready/, timeoutMs: 60_000 })).reason, "pattern");
    await type("sallyport insp", /inspect/);
    await type("sallyport run --sand", /--sandbox/);
    await type("sallyport run --sandbox iso", /isolated/);
    await type("sallyport logs over", /over-already/);
    await type("sallyport kill we", /web-server/);
  } finally {
    await zsh.kill({ signal: "KILL" });
    await gateway.close();
  }
});

test("rejects a missing, unknown or second shell", async () => {
  for (const [args, message] of [
    [[], /no shell given; use bash, zsh, fish/],
    [["tcsh"], /unknown shell `tcsh`/],
    [["bash", "zsh"], /unexpected argument `zsh`/],
  ] as const) {
    const { code, stderr } = await box.run(["completion", ...args]);
    assert.equal(code, 125);
    assert.match(stderr, message);
  }
});
