import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Gateway, openGateway } from "../../../src/index.ts";
import { missing } from "../../fixtures/on-path.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";

// Session names are validated, and none of the names below would be accepted. The completion scripts must not rely on
// that (invariant 7), so a fake program returns such names here.

const box = new Sandbox();
const bin = join(box.folder, "bin");
const mark = join(box.folder, "expanded");
const HOSTILE = [`evila$(touch ${mark})`, `evilb\`touch ${mark}\``, `evilc;touch ${mark}`, `evild'"; touch ${mark} #`];
let gateway: Gateway;

before(async () => {
  mkdirSync(bin);
  for (const shell of ["bash", "zsh", "fish"])
    writeFileSync(join(box.folder, `script.${shell}`), (await box.run(["completion", shell])).stdout);
  writeFileSync(join(box.folder, "names"), HOSTILE.map((name) => `${name}\t${name}\n`).join(""));
  // Prints the names for `ps`, and the number of its arguments for any other command.
  const program = `#!/bin/sh\ncase "$1" in ps) cat '${box.folder}/names' ;; *) echo "called with $#" ;; esac\n`;
  writeFileSync(join(bin, "sallyport"), program);
  chmodSync(join(bin, "sallyport"), 0o755);
  gateway = await openGateway({
    workspace: box.folder,
    state: box.state,
    configuration: null,
    policy: { sandbox: "off" },
    approve: async () => ({ decision: "once", who: "somebody" }),
  });
});

after(async () => {
  await gateway.close();
  box.remove();
});

const SHELLS: [name: string, args: string[], load: string][] = [
  ["bash", ["--norc", "--noprofile"], "source script.bash"],
  ["zsh", ["-f"], "autoload -U compinit; compinit -D; source script.zsh"],
  ["fish", ["--no-config"], "source script.fish"],
];

for (const [shell, args, load] of SHELLS) {
  test(`${shell} does not execute a completed name`, { skip: missing(shell) }, async () => {
    const session = await gateway.start({ command: shell, args, pty: true, size: { columns: 200, rows: 50 } });
    assert.equal(session.info().error, null);
    const shows = async (pattern: RegExp) => {
      const { reason } = await session.waitFor({ pattern, timeoutMs: 60_000 });
      assert.equal(reason, "pattern", `${pattern}\n${(await session.screen()).lines.join("\n")}`);
    };
    // Keys typed before the line editor reads are lost.
    const atPrompt = async () =>
      assert.equal(
        (await session.waitFor({ input: true, timeoutMs: 60_000 })).reason,
        "input",
        "the shell does not wait for keys",
      );
    try {
      await atPrompt();
      await session.paste(`export PATH=${bin}:/usr/bin:/bin; ${load}; echo re""ady`, { submit: true });
      await shows(/ready/);
      for (const name of HOSTILE) {
        await atPrompt();
        await session.paste(`sallyport kill ${name.slice(0, 5)}`);
        await atPrompt();
        await session.sendKeys(["Tab"]);
        await atPrompt();
        await session.sendKeys(["Enter"]);
        await shows(/called with 2/);
        assert.equal(existsSync(mark), false, `${name} ran`);
      }
    } finally {
      await session.kill({ signal: "SIGKILL" });
    }
  });
}
