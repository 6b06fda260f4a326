import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Options, outcome, Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";
import { visibleFolder } from "../../fixtures/visible-folder.ts";

/** The state folder is outside the workspace, as it is for users. */
class Box extends Sandbox {
  override readonly state = mkdtempSync(join(tmpdir(), "sallyport-state-"));

  override remove(): void {
    super.remove();
    rmSync(this.state, { recursive: true, force: true, maxRetries: 10 });
  }
}

const box = new Box();
after(() => box.remove());
const workspace = realpathSync(box.folder);
mkdirSync(join(box.folder, "inner"));

const SHELL = fileURLToPath(new URL("../../../bin/sallyport-sh.js", import.meta.url));
// The test runs in another folder than the box.
const env = { SALLYPORT_WORKSPACE: box.folder };
const sh = (args: string[], options: Options = {}) =>
  box.run(["sh", ...args], { ...options, env: { ...env, ...options.env } });

/** Returns the commands of the audit log, newest last. */
async function audited(): Promise<string[]> {
  const { stdout } = await box.run(["audit", "--json"]);
  const entries = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { kind: string; summary: string });
  return entries.filter(({ kind }) => kind === "run").map(({ summary }) => summary);
}

const claude = (command: string, file: string, snapshot?: string) =>
  [
    ...(snapshot ? [`source ${snapshot} 2>/dev/null || true`] : []),
    "shopt -u extglob 2>/dev/null || true",
    `eval '${command.replaceAll("'", `'"'"'`)}' < /dev/null`,
    `pwd -P >| ${file}`,
  ].join(" && ");

test("runs text, scripts and standard input as bash does", async () => {
  writeFileSync(join(box.folder, "script.sh"), 'echo "$0 $1"; exit 5\n');
  const cases: [args: string[], input: string, stdout: string, code: number][] = [
    [["-c", "echo $0 $#; exit 3"], "", "bash 0\n", 3],
    [["-lc", "shopt -q login_shell && echo login"], "", "login\n", 0],
    [["-l", "-c", "echo b"], "", "b\n", 0],
    [["-c", 'echo "$0 $1"', "name", "it's"], "", "name it's\n", 0],
    [["-eo", "pipefail", "-c", "false | true; echo no"], "", "", 1],
    [["-c", "cat"], "data", "data", 0],
    [["script.sh", "a b"], "", "script.sh a b\n", 5],
    [["-s", "x"], 'echo "in $1"; exit 4', "in x\n", 4],
    [[], "echo stdin", "stdin\n", 0],
    [["-c", "kill -TERM $$"], "", "", 143],
    [["-c", "--", "-x() { echo dash; }; -x"], "", "dash\n", 0],
  ];
  for (const [args, input, stdout, code] of cases) {
    const found = await sh(args, { input });
    assert.deepEqual([args, found.stdout, found.code], [args, stdout, code], found.stderr);
  }
  assert.match((await sh(["--version"])).stdout, /^GNU bash/);
  assert.equal((await sh(["-c"])).code, 125);
});

test("commands are sandboxed and judged, and pass on the environment and the working directory of the caller", async () => {
  const outside = join(visibleFolder("sh-"), "file");
  writeFileSync(join(box.folder, "outside.sh"), 'touch "$1"\n');
  const found = await sh(["-c", `echo "$MARK $PWD"; bash ../outside.sh ${outside}`], {
    env: { MARK: "here" },
    cwd: join(box.folder, "inner"),
  });
  assert.equal(found.stdout, `here ${join(workspace, "inner")}\n`, found.stderr);
  assert.notEqual(found.code, 0);
  assert.ok(!existsSync(outside));
  rmSync(join(outside, ".."), { recursive: true });

  const blocked = await sh(["-c", "rm -rf /"]);
  assert.deepEqual([blocked.code, blocked.stdout], [126, ""]);
  assert.match(blocked.stderr, /^sallyport: Blocked: /);
  assert.equal((await sh(["-c", `sallyport-sh -lc "rm -rf /"`])).code, 126);
  const fed = await sh(["-s"], { input: "rm -rf /\necho after\n" });
  assert.match(fed.stderr, /Blocked: /);
});

test("does not run when Sallyport cannot work", async () => {
  const broken = join(box.state, "broken");
  writeFileSync(broken, "");
  for (const args of [["-c", "echo ran"], ["-s"], []]) {
    const found = await sh(args, { env: { SALLYPORT_STATE: broken }, input: "echo ran" });
    assert.deepEqual([found.code, found.stdout], [125, ""]);
    assert.match(found.stderr, /^sallyport: The state folder /);
  }
});

test("does not use a state folder or a configuration that the agent could have placed in the workspace", async () => {
  const config = join(box.folder, "config/sallyport");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "sallyport.json"), JSON.stringify({ sandbox: "off" }));
  mkdirSync(join(box.folder, "home"));
  for (const own of [
    { XDG_CONFIG_HOME: join(box.folder, "config") },
    { SALLYPORT_STATE: join(box.folder, "state") },
    { SALLYPORT_STATE: "", XDG_STATE_HOME: box.folder },
    { HOME: join(box.folder, "home"), XDG_CONFIG_HOME: "" },
  ]) {
    const found = await sh(["-c", "echo ran"], { env: own });
    assert.deepEqual([found.code, found.stdout], [125, ""], JSON.stringify(own));
    assert.match(found.stderr, /is in the workspace/);
  }
});

test("does not wait for an approval without a terminal, and runs the command once it is approved", async () => {
  writeFileSync(join(box.folder, "sallyport.json"), JSON.stringify({ ask: "always" }));
  try {
    const first = await sh(["-c", "echo asked"]);
    assert.deepEqual([first.code, first.stdout], [126, ""], first.stderr);
    const [{ id } = { id: "" }] = JSON.parse((await box.run(["approvals", "--json"])).stdout) as { id: string }[];
    assert.equal((await box.run(["approve", id], {})).code, 0);
    const second = await sh(["-c", "echo asked"]);
    assert.deepEqual([second.code, second.stdout], [0, "asked\n"], second.stderr);
  } finally {
    rmSync(join(box.folder, "sallyport.json"));
  }
});

test("the workspace is the folder of the host, not the working directory that its agent chooses", async () => {
  const { SALLYPORT_WORKSPACE: _, ...own } = process.env;
  const host = `const { spawnSync } = require("node:child_process");
    const run = (cwd, text) => spawnSync(process.execPath, [${JSON.stringify(SHELL)}, "-c", text], { cwd, encoding: "utf8" });
    const inner = run(${JSON.stringify(join(workspace, "inner"))}, "echo x > ../up && echo ok");
    const outer = run("/usr", "echo ran");
    console.log(JSON.stringify([inner.stdout, inner.status, outer.stdout, outer.status, outer.stderr]));`;
  const child = spawn(process.execPath, ["-e", host], {
    cwd: workspace,
    env: { ...own, SALLYPORT_STATE: box.state },
    stdio: "pipe",
  });
  const { stdout, stderr } = await outcome(child);
  const [text, code, outer, outerCode, why] = JSON.parse(stdout || "[]") as [string, number, string, number, string];
  assert.deepEqual([text, code, outer, outerCode], ["ok\n", 0, "", 125], stderr + why);
  assert.match(why, /`\/usr` is outside the folder in which the agent host runs/);
});

test("runs bash itself inside a sandboxed command, also when it is `bash` on PATH and $SHELL", async () => {
  const bin = join(box.folder, "bin");
  mkdirSync(bin);
  symlinkSync(SHELL, join(bin, "bash"));
  const found = await sh(["-c", 'bash -c "echo nested $((1+1))"; "$SHELL" -c "exit 6"'], {
    env: { PATH: `${bin}:${process.env.PATH}`, SHELL: join(bin, "bash") },
  });
  assert.deepEqual([found.stdout, found.code], ["nested 2\n", 6], found.stderr);
  // A variable in the environment is not enough: an agent host may load it from a file of the agent.
  const forged = await sh(["-c", "touch /etc/sallyport-forged"], { env: { SALLYPORT_SESSION: "x" } });
  assert.notEqual(forged.code, 0);
  assert.ok(!existsSync("/etc/sallyport-forged"));
});

test("records the command of an agent, and reports the working directory to its host", async () => {
  const file = join(tmpdir(), `claude-t${process.pid}-cwd`);
  const own = { env: { CLAUDECODE: "1" } };
  const take = () => {
    const text = existsSync(file) ? readFileSync(file, "utf8") : null;
    rmSync(file, { force: true });
    return text;
  };
  const moved = await sh(["-c", claude("cd inner && echo 'in there'", file)], own);
  assert.deepEqual(
    [moved.stdout, moved.code, take()],
    ["in there\n", 0, `${join(workspace, "inner")}\n`],
    moved.stderr,
  );
  for (const [text, code] of [
    ["cd inner; exit 3", 3],
    ["cd inner; (exit 4)", 4],
  ] as const) {
    const failed = await sh(["-c", claude(text, file)], own);
    assert.deepEqual([failed.code, take()], [code, null]);
  }
  const left = await sh(["-c", claude("cd /usr", file)], own);
  assert.deepEqual([left.code, take()], [0, `${workspace}\n`]);
  assert.match(left.stderr, /the working directory stays .* \/usr is outside the workspace/);

  // A command can write anything to the file in its sandbox, and a link to where the host expects the file.
  const forged = `mkdir -p 'x$(touch pwned)'; cd 'x$(touch pwned)'`;
  assert.equal((await sh(["-c", claude(forged, file)], own)).code, 0);
  assert.equal(take(), `${join(workspace, "x$(touch pwned)")}\n`);
  assert.ok(!existsSync(join(box.folder, "pwned")));
  writeFileSync(join(box.folder, "victim"), "kept");
  symlinkSync(join(box.folder, "victim"), file);
  await sh(["-c", claude("cd inner", file)], own);
  assert.equal(readFileSync(join(box.folder, "victim"), "utf8"), "kept");
  rmSync(file, { force: true });

  const blocked = await sh(["-c", claude("rm -rf /", file)], own);
  assert.deepEqual([blocked.code, take()], [126, null]);
  const commands = await audited();
  assert.deepEqual(
    ["cd inner && echo 'in there'", "cd inner; exit 3", "cd /usr", "rm -rf /"].filter(
      (each) => !commands.includes(each),
    ),
    [],
  );
});

test("runs the snapshot of Claude Code in the sandbox, before the command", async () => {
  const home = visibleFolder("sh-home-");
  const snapshots = join(home, ".claude/shell-snapshots");
  mkdirSync(snapshots, { recursive: true });
  try {
    const snapshot = join(snapshots, "snapshot-bash-1-abc.sh");
    writeFileSync(snapshot, "greet() { echo from snapshot; }\ntouch ~/outside\n");
    const file = join(tmpdir(), `claude-s${process.pid}-cwd`);
    const found = await sh(["-c", claude("greet", file, snapshot)], { env: { CLAUDECODE: "1", HOME: home } });
    rmSync(file, { force: true });
    assert.deepEqual([found.stdout, found.code], ["from snapshot\n", 0], found.stderr);
    assert.ok(!existsSync(join(home, "outside")));
  } finally {
    rmSync(home, { recursive: true });
  }
});

test("an interactive shell on a terminal judges each line", async () => {
  const { child, shows } = box.onTerminal(["sh"], { env });
  const type = (text: string) => child.stdin?.write(text);
  await until("a prompt", () => /[$#]\s*$/.test(shows()));
  type("echo in$((1+1))side\n");
  await until("the output", () => shows().includes("in2side"));
  type("rm -rf /\n");
  await until("the refusal", () => shows().includes("input rejected: Blocked"));
  // Ctrl-U removes the rejected line.
  type("\x15exit 7\n");
  const [code] = await new Promise<[number | null]>((resolve) => child.on("close", (status) => resolve([status])));
  assert.equal(code, 7, shows());
});
