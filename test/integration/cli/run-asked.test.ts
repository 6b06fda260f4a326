import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { after, test } from "node:test";
import { killAndWait } from "../../fixtures/processes.ts";
import { ENTRY, Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const skip = spawnSync("script", ["--version"]).status === 0 ? false : "script, which gives a terminal, is not here";
const box = new Sandbox();
after(() => box.remove());

/** What the terminal shows and how it ends, when these keys are pressed at what is shown before them. */
async function typed(options: string, keys: [shown: string, key: string][]): Promise<{ screen: string; code: number }> {
  const line = `stty cols 200 rows 24; ${process.execPath} ${ENTRY} run ${options} --sandbox off -c 'echo hello'; echo "ended $?"`;
  // dash would die of the Ctrl-C that was meant for the command; bash goes on to tell how it ended.
  const env = { ...process.env, SHELL: "/bin/bash", SALLYPORT_STATE: box.state, NO_COLOR: "1" };
  const child = spawn("script", ["-qec", line, "/dev/null"], { cwd: box.folder, env, stdio: "pipe" });
  let screen = "";
  child.stdout.on("data", (chunk: Buffer) => {
    screen += chunk.toString();
  });
  for (const [shown, key] of keys) {
    await until(`the terminal shows ${shown}; it shows ${screen}`, () => screen.includes(shown));
    child.stdin.write(key);
  }
  await until(`it has ended; the terminal shows ${screen}`, () => /ended \d+/.test(screen));
  await killAndWait(child);
  return { screen, code: Number(/ended (\d+)/.exec(screen)?.[1]) };
}

test("Ctrl-C at the question ends the command line, as anywhere else", { skip }, async () => {
  for (const options of ["", "--json"]) {
    const { screen, code } = await typed(options, [["Allow it?", "\x03"]]);
    assert.equal(code, 130);
    assert.doesNotMatch(screen, /sallyport approve|Unexpected/);
  }
});

test("who leaves the answer to somebody else is told how that one gives it", { skip }, async () => {
  for (const later of ["l\r", "\x04"]) {
    const { screen, code } = await typed("", [
      ["Allow it?", later],
      ["Or refuse it: ", "\x03"],
    ]);
    assert.match(screen, /Approve it in another terminal: sallyport approve [0-9a-f-]{36}/);
    assert.equal(code, 130);
  }
});
