import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Sandbox } from "../../fixtures/sallyport.ts";
import { recordings } from "./replay.ts";

const HOSTS = ["claude-code", "continue", "gemini", "opencode", "qwen"];
const APPROVES = /\bsallyport(?:\.js)?['"]?\s+(?:approve|allow)\b/;

const recorded = recordings("shell");

test("there is a recording of each host that can use another shell", () => {
  assert.deepEqual([...recorded.keys()].sort(), HOSTS);
});

for (const [host, processes] of recorded) {
  test(`is the shell of ${host} as recorded`, async () => {
    const box = new Sandbox();
    after(() => box.remove());
    // The state folder may not be in the workspace.
    const project = join(box.folder, "project");
    mkdirSync(project);
    const run = (command: string) => {
      const { args, env } =
        processes.find((one) => one.args.some((arg) => arg.includes(command))) ?? assert.fail(command);
      return box.run(args, { cwd: project, env: { ...env, SALLYPORT_WORKSPACE: project } });
    };
    const guarded = await run("ran-guarded");
    assert.deepEqual([guarded.stdout, guarded.code], ["one\ntwo\n", 0], guarded.stderr);
    const asked = await run("ran-asked");
    assert.equal(asked.code, 126);
    assert.match(asked.stderr, /Approval required/);
    assert.doesNotMatch(asked.stdout + asked.stderr, APPROVES);
    const blocked = await run("ran-blocked");
    assert.equal(blocked.code, 126);
    assert.match(blocked.stderr, /Blocked/);
    const ran = (file: string) => existsSync(join(project, file));
    assert.deepEqual([ran("ran-guarded"), ran("ran-asked"), ran("ran-blocked")], [true, false, false]);
    // Only the command itself is recorded, without the text of the host around it.
    const { stdout } = await box.run(["audit", "export"]);
    const runs = stdout.trim().split("\n");
    const commands = runs.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "run");
    assert.deepEqual(
      commands.map(({ agent, outcome, summary }) => [agent, outcome, summary.slice(0, "touch ran-".length)]),
      ["allowed", "pending", "blocked"].map((outcome) => [host, outcome, "touch ran-"]),
    );
  });
}
