import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CLIENT, ENTRY, Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

const box = new Sandbox("node");
after(() => box.remove());
const step = join(box.operator, "step");
const work = join(box.folder, "work");
mkdirSync(work);
mkdirSync(box.state, { mode: 0o700 });

/** A client whose resident gateway kills itself at the step in the file. */
const client = join(box.operator, "bin/sallyport.cjs");
const resident = fileURLToPath(new URL("../../fixtures/programs/dying-resident.ts", import.meta.url));
const node = join(box.operator, "node");
const dying = `exec '${process.execPath}' '${resident}' '${step}' "$@"`;
writeFileSync(node, `#!/bin/sh\n[ "$2" = --resident ] && ${dying}\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
for (const folder of ["bin", "native/build"]) mkdirSync(join(box.operator, folder), { recursive: true });
writeFileSync(join(box.operator, "native/build/node-path"), node);
copyFileSync(CLIENT, client);
symlinkSync(ENTRY, join(box.operator, "bin/sallyport.js"));

function run(...args: string[]) {
  const env = { PATH: process.env.PATH, HOME: box.folder, SALLYPORT_STATE: box.state, XDG_CONFIG_HOME: box.operator };
  return spawnSync(client, args, { cwd: work, env, encoding: "utf8" });
}

/** Returns how often the command of a step has run. */
function runs(name: string): number {
  const file = join(work, name);
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
}

/** Runs a command, and checks that the resident gateway was killed meanwhile. */
async function killedAt(name: string) {
  writeFileSync(step, "");
  await until("a resident gateway answers", () => {
    run("check", "--", "true");
    return box.residents().length > 0;
  });
  writeFileSync(step, name);
  const outcome = run("run", "-c", `echo x >> ${name}; echo out; exit 5`);
  const [path = ""] = box.residents();
  const socket = connect(path);
  const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
  assert.equal(error.code, "ECONNREFUSED");
  rmSync(path);
  return outcome;
}

for (const name of ["received", "decided", "authorized", "prepared", "launched"]) {
  test(`runs a command once when the resident gateway is killed: ${name}`, async () => {
    const { stdout, stderr, status } = await killedAt(name);
    assert.deepEqual([stdout, stderr, status, runs(name)], ["out\n", "", 5, 1]);
  });
}

test("reports a command that was recorded but not started when the resident gateway was killed", async () => {
  const { stdout, stderr, status } = await killedAt("recorded");
  assert.match(stderr, /the gateway or the keeper exited before the command was started/);
  assert.deepEqual([stdout, status, runs("recorded")], ["", 125, 0]);
});
