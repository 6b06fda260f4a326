import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(() => box.remove());

test("options may follow arguments, and `--` ends the options", async () => {
  const { stderr } = await box.run(["inspect", "one", "--json", "two", "--", "--three", "--"]);
  const messages = stderr
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).error.message as string);
  assert.equal(messages.length, 4, stderr);
  for (const [at, name] of ["one", "two", "--three", "--"].entries()) assert.ok(messages[at]?.includes(name), stderr);
});

test("accepts signals by name or number", async () => {
  for (const signal of ["TERM", "term", "SIGTERM", "sigterm", "1", "15", "64"]) {
    const { stderr } = await box.run(["kill", "--json", "-s", signal, "nothing-of-this-name"]);
    assert.match(stderr, /NotFound|UnknownSession|no session/i, signal);
  }
});

test("takes the state folder from --state, SALLYPORT_STATE, XDG_STATE_HOME or HOME, in this order", async () => {
  const folder = (name: string) => join(box.folder, name);
  mkdirSync(folder("home"));
  const cases: [args: string[], env: NodeJS.ProcessEnv, state: string][] = [
    [["--state", `${box.folder}/x/../option`], { SALLYPORT_STATE: folder("variable") }, folder("option")],
    [[], { SALLYPORT_STATE: folder("variable"), XDG_STATE_HOME: folder("xdg") }, folder("variable")],
    [[], { SALLYPORT_STATE: "", XDG_STATE_HOME: folder("xdg") }, folder("xdg/sallyport")],
    [[], { SALLYPORT_STATE: "", XDG_STATE_HOME: "", HOME: folder("home") }, folder("home/.local/state/sallyport")],
  ];
  for (const [args, env, state] of cases) {
    assert.equal(existsSync(state), false, state);
    const { code, stderr } = await box.run(["token", "list", ...args], { env });
    assert.equal(code, 0, stderr);
    assert.ok(existsSync(join(state, "sallyport.db")), state);
  }
});
