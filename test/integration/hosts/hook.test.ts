import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Sandbox } from "../../fixtures/sallyport.ts";
import { type Recording, recordings } from "./replay.ts";

const APPROVES = /\bsallyport(?:\.js)?['"]?\s+(?:approve|allow)\b/;

const recorded = recordings("hook");

test("there are recordings of hooks", () => {
  assert.ok(["claude-code", "codex", "copilot", "cline"].every((host) => recorded.has(host)));
});

for (const [host, processes] of recorded) {
  test(`answers the hook of ${host} as recorded`, async () => {
    const box = new Sandbox();
    after(() => box.remove());
    const root = realpathSync(box.folder);
    const workspace = join(root, "workspace");
    mkdirSync(workspace);
    mkdirSync(join(root, "home"));

    /** Plays the host: returns the text for the model, after running the command of the answer. */
    const call = async (command: string): Promise<string> => {
      const { args, env, lines } = processes.find((one) => isAbout(one, command)) ?? assert.fail(command);
      const input = JSON.stringify(lines[0]).replaceAll("/trial", root);
      const options = { env, cwd: workspace, input };
      const { code, stdout, stderr } = await box.run(args, options);
      if (code === 2) return stderr;
      assert.equal(code, 0, stderr);
      const values = strings(JSON.parse(stdout));
      const replaced = values.find((value) => value.includes("--sallyport-call="));
      if (replaced === undefined || values.includes("ask")) return values.join("\n");
      const ran = spawnSync("bash", ["-c", replaced], {
        cwd: workspace,
        env: { ...process.env, ...env, SALLYPORT_STATE: box.state },
        encoding: "utf8",
      });
      return `${ran.stdout}${ran.stderr}`;
    };

    assert.equal(await call("ran-guarded"), "one\ntwo\n");
    const asked = await call("ran-asked");
    assert.match(asked, /approv|Sallyport asks/i);
    assert.doesNotMatch(asked, APPROVES);
    assert.match(await call("ran-blocked"), /Blocked/);
    const ran = (file: string) => existsSync(join(workspace, file));
    assert.deepEqual([ran("ran-guarded"), ran("ran-asked"), ran("ran-blocked")], [true, false, false]);
    const { stdout } = await box.run(["audit", "export"]);
    const audit = stdout.trim().split("\n");
    const entries = audit.map((line) => JSON.parse(line) as { agent: string; outcome: string; summary: string });
    assert.ok(entries.every(({ agent }) => agent === host));
    const isRecorded = (file: string, outcome: string) =>
      entries.some((entry) => entry.outcome === outcome && entry.summary.startsWith(`touch ${file}`));
    assert.ok(isRecorded("ran-guarded", "allowed"));
    assert.ok(isRecorded("ran-blocked", "blocked"));
  });
}

function isAbout({ lines }: Recording, command: string): boolean {
  return JSON.stringify(lines).includes(command);
}

/** All texts in a JSON value. */
function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(strings) : [];
}
