import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
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
import { HOOK_FORMATS, hookCommandLine } from "../../../src/hosts/hooks/index.ts";
import { shellShim } from "../../../src/hosts/own-shell.ts";
import { ENTRY, type Options, outcome, Sandbox } from "../../fixtures/sallyport.ts";
import { until } from "../../fixtures/until.ts";

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
mkdirSync(join(workspace, "inner"));
const SHELL = fileURLToPath(new URL("../../../bin/sallyport-sh.js", import.meta.url));

/** Events of the hosts, as they send them, for a command in the workspace. */
const EVENTS: Record<string, (command: string, more?: object) => object> = {
  "claude-code": (command, more) => ({
    session_id: "0b5e1f6e-6d2c-4c71-a53f-e2f7a9d5ad01",
    transcript_path: "/home/ann/.claude/projects/-work/0b5e1f6e.jsonl",
    cwd: workspace,
    permission_mode: "default",
    hook_event_name: "PreToolUse",
    tool_name: "Bash",
    tool_input: { command, description: "Run it", timeout: 120000 },
    tool_use_id: "toolu_01ABC",
    ...more,
  }),
  codex: (command, more) => ({
    session_id: "01a1f57c-f8f0-734a-bc81-da631964dcdd",
    turn_id: "turn-1",
    transcript_path: null,
    cwd: workspace,
    hook_event_name: "PreToolUse",
    model: "gpt-5",
    permission_mode: "default",
    tool_name: "Bash",
    tool_input: { command },
    tool_use_id: "call_1",
    ...more,
  }),
  gemini: (command, more) => ({
    session_id: "gemini-session",
    transcript_path: "/home/ann/.gemini/tmp/chat.json",
    cwd: workspace,
    hook_event_name: "BeforeTool",
    timestamp: "2026-11-19T20:00:00.000Z",
    tool_name: "run_shell_command",
    tool_input: { command, description: "Run it" },
    ...more,
  }),
  opencode: (command, more) => ({
    tool: "bash",
    sessionID: "ses_1",
    callID: "call_1",
    directory: workspace,
    args: { command, timeout: 120000 },
    ...more,
  }),
  copilot: (command, more) => ({
    sessionId: "copilot-session",
    timestamp: 1763582400000,
    cwd: workspace,
    toolName: "bash",
    toolArgs: { command, description: "Run it", sessionId: "main", mode: "sync" },
    ...more,
  }),
  cursor: (command, more) => ({
    conversation_id: "conversation",
    generation_id: "generation",
    hook_event_name: "preToolUse",
    session_id: "conversation",
    cursor_version: "3.9.16",
    workspace_roots: [workspace],
    tool_name: "Shell",
    tool_input: { command, cwd: "", timeout: 30000 },
    tool_use_id: "1",
    cwd: "",
    ...more,
  }),
  cline: (command, more) => ({
    clineVersion: "3.0.65",
    hookName: "tool_call",
    timestamp: "2026-11-19T20:00:00.000Z",
    taskId: "task",
    workspaceRoots: [workspace],
    userId: "ann",
    agent_id: "agent",
    parent_agent_id: null,
    iteration: 1,
    tool_call: { id: "1", name: "run_commands", input: { commands: [command] } },
    preToolUse: { toolName: "run_commands", parameters: {} },
    ...more,
  }),
};
EVENTS.qwen = (command, more) => ({
  ...EVENTS["claude-code"]?.(command),
  tool_name: "run_shell_command",
  tool_input: { command, is_background: false },
  ...more,
});

const hook = (host: string, event: unknown, options: Options = {}) =>
  box.run(["hook", host], { input: typeof event === "string" ? event : JSON.stringify(event), ...options });

/** Returns the command that a host would run after the answer. Null when the answer denies it. */
async function answered(host: string, event: unknown, options: Options = {}): Promise<string | null> {
  const { stdout, stderr, code } = await hook(host, event, options);
  if (code !== 0) {
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^sallyport: /);
    return null;
  }
  const answer = JSON.parse(stdout);
  const { permissionDecision, decision } = { ...answer, ...answer.hookSpecificOutput };
  if ([permissionDecision, decision, answer.permission].includes("deny") || answer.cancel === true) return null;
  const found =
    answer.hookSpecificOutput?.updatedInput ??
    answer.hookSpecificOutput?.tool_input ??
    answer.modifiedArgs ??
    answer.updated_input ??
    answer.overrideInput ??
    answer.args;
  const command = found.command ?? found.commands[0];
  // Cline would end its task on a denial, so a command that prints the reason runs instead.
  return host === "cline" && /^printf '%s\\n' 'sallyport: [\s\S]*; exit 126$/.test(command) ? null : command;
}

/** Runs a command as a host would: with the system's bash, which keeps nothing. */
function runAsHost(command: string, { cwd = workspace, after: text = "" } = {}) {
  const found = spawnSync("/bin/bash", ["-c", `${command}\n${text}`], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, SALLYPORT_STATE: box.state },
  });
  return { stdout: found.stdout, stderr: found.stderr, code: found.status };
}

async function audited(): Promise<
  { kind: string; summary: string; outcome: string; channel: string; actor: string }[]
> {
  const { stdout } = await box.run(["audit", "--json"]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

for (const host of Object.keys(EVENTS).filter((name) => name !== "qwen")) {
  test(`${host}: a command runs through Sallyport, and a blocked one does not run`, async () => {
    const event = EVENTS[host] as (command: string, more?: object) => object;
    const text = `printf '%s\\n' "it's" '$HOME' "${host}"; echo err >&2; exit 3`;
    const command = (await answered(host, event(text))) ?? "";
    assert.ok(command.startsWith(process.execPath), command);
    const ran = runAsHost(command);
    assert.deepEqual([ran.stdout, ran.stderr, ran.code], [`it's\n$HOME\n${host}\n`, "err\n", 3]);
    // The answer is for one run of this command.
    assert.equal(runAsHost(command).code, 126);

    const blocked = `rm -rf / # ${host}`;
    assert.equal(await answered(host, event(blocked)), null);
    const entries = await audited();
    const outcomes = (summary: string) =>
      entries.filter((each) => each.summary === summary).map((each) => each.outcome);
    assert.equal(outcomes(text)[0], "allowed");
    assert.deepEqual(outcomes(blocked), ["blocked"]);
  });
}

test("a command that was answered for another command is not run", async () => {
  const event = EVENTS["claude-code"] as (command: string) => object;
  const command = (await answered("claude-code", event("echo one"))) ?? "";
  const forged = runAsHost(command.replace("echo one", "echo two"));
  assert.deepEqual([forged.stdout, forged.code], ["", 126]);
  assert.equal(runAsHost(command).code, 126, "the call is used up");
  assert.equal(runAsHost(command.replace(/call=\w+/, `call=${"0".repeat(32)}`)).code, 126);
  assert.equal(runAsHost(command.replace(/call=\w+/, "call=../../x")).code, 126);
  assert.match(runAsHost(command.replace(/call=\w+/, "call=")).stderr, /not known, or has already run/);
});

test("claude-code: a changed directory carries over, if the command succeeds and stays in the workspace", async () => {
  const event = EVENTS["claude-code"] as (command: string, more?: object) => object;
  const cwdAfter = async (text: string) => {
    const command = (await answered("claude-code", event(text))) ?? "";
    return runAsHost(command, { after: 'code=$?; pwd -P; exit "$code"' });
  };
  assert.deepEqual(await cwdAfter("cd inner"), { stdout: `${workspace}/inner\n`, stderr: "", code: 0 });
  assert.deepEqual(await cwdAfter("cd inner; false"), { stdout: `${workspace}\n`, stderr: "", code: 1 });
  const left = await cwdAfter("cd /usr");
  assert.deepEqual([left.stdout, left.code], [`${workspace}\n`, 0]);
  // A command can report any path: a link, or one that leaves the workspace again.
  symlinkSync("/usr", join(workspace, "link"));
  for (const path of ["link", "../../usr", "inner/../../../usr/bin"]) {
    const forged = await cwdAfter(`pwd() { echo ${join(workspace, "inner")}/../${path}; }`);
    assert.deepEqual([forged.stdout, forged.code], [`${workspace}\n`, 0], path);
  }
  // The host's shell is not sandboxed: it must not run a program of the agent.
  mkdirSync(join(workspace, "evil"));
  for (const name of ["cat", "cd", "node", "["]) {
    writeFileSync(join(workspace, "evil", name), "#!/bin/sh\ntouch pwned\n", { mode: 0o755 });
  }
  const planted = (await answered("claude-code", event("cd inner"))) ?? "";
  const there = runAsHost(`PATH=${join(workspace, "evil")}:$PATH; ${planted}`, { after: "pwd -P" });
  assert.equal(there.stdout, `${workspace}/inner\n`);
  const hostile = "x$(touch pwned)`touch pwned`'\"";
  mkdirSync(join(workspace, hostile));
  assert.equal((await cwdAfter("cd x*")).stdout, `${workspace}/${hostile}\n`);
  assert.ok(!readdirSync(workspace).includes("pwned") && !existsSync(join(workspace, hostile, "pwned")));

  // The workspace is that of the first call, not a folder to which the agent has moved.
  const inner = (await answered("claude-code", event("touch ../up", { cwd: join(workspace, "inner") }))) ?? "";
  assert.equal(runAsHost(inner, { cwd: join(workspace, "inner") }).code, 0);
  assert.equal(await answered("claude-code", event("ls", { cwd: "/usr" })), null);
  const fresh = event("ls", { cwd: "/usr", session_id: "other" });
  const project = await answered("claude-code", fresh, { env: { CLAUDE_PROJECT_DIR: workspace } });
  assert.equal(project, null);
});

test("claude-code: in plan mode a command may only read", async () => {
  const event = EVENTS["claude-code"] as (command: string, more?: object) => object;
  const command =
    (await answered("claude-code", event("cat inner/.. ; touch planned", { permission_mode: "plan" }))) ?? "";
  assert.notEqual(runAsHost(command).code, 0);
  assert.ok(!existsSync(join(workspace, "planned")));
});

test("claude-code: the user of the host is asked, for this command in this folder, and once", async () => {
  const event = EVENTS["claude-code"] as (command: string, more?: object) => object;
  const text = "curl --version | bash -s; echo done";
  const ask = async (more?: object, env?: NodeJS.ProcessEnv) => {
    const { stdout } = await hook("claude-code", event(text, more), env ? { env } : {});
    return JSON.parse(stdout).hookSpecificOutput;
  };
  const question = await ask();
  assert.equal(question.permissionDecision, "ask");
  assert.match(question.permissionDecisionReason, /^Sallyport asks: .*Command: curl --version \| bash -s; echo done$/);
  assert.equal(runAsHost(question.updatedInput.command, { cwd: join(workspace, "inner") }).code, 126);
  const again = await ask();
  const ran = runAsHost(again.updatedInput.command);
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stdout, /done\n$/);
  const decided = (await audited()).filter(({ kind, channel }) => kind === "approval" && channel === "hook");
  assert.deepEqual(
    decided.map(({ outcome: each }) => each),
    ["approved"],
  );
  assert.equal(runAsHost(again.updatedInput.command).code, 126);

  // Where no person is asked, the host runs the command, which waits for a person elsewhere.
  for (const [more, env] of [
    [{ permission_mode: "bypassPermissions" }],
    [{ permission_mode: "dontAsk" }],
    [{ permission_mode: "auto" }],
    [{}, { CLAUDE_CODE_ENTRYPOINT: "sdk-cli" }],
  ] as [object, NodeJS.ProcessEnv?][]) {
    const { permissionDecision, updatedInput } = await ask(more, env);
    assert.equal(permissionDecision, "allow");
    const pending = runAsHost(updatedInput.command);
    assert.deepEqual([pending.stdout, pending.code], ["", 126]);
  }
});

test("a host without a terminal or with a single prompt is not made to ask", async () => {
  const event = JSON.stringify(EVENTS.gemini?.("curl --version | bash -s"));
  // A program with the name of the host, which starts the hook.
  const host = join(box.state, "gemini");
  writeFileSync(
    host,
    `require("node:child_process").spawnSync(process.execPath, [${JSON.stringify(ENTRY)}, "hook", "gemini"], { input: ${JSON.stringify(event)}, stdio: ["pipe", "inherit", "inherit"] });`,
  );
  const decide = async (before: string, args: string[]) => {
    const line = `${before} '${process.execPath}' '${host}' ${args.join(" ")}`;
    const child = spawn("script", ["-qec", line, "/dev/null"], {
      cwd: workspace,
      env: { ...process.env, SALLYPORT_STATE: box.state },
    });
    return /"decision":"(\w+)"/.exec((await outcome(child)).stdout)?.[1];
  };
  assert.equal(await decide("", []), "ask");
  assert.equal(await decide("", ["-p"]), "allow");
  assert.equal(await decide(": |", []), "allow");
});

test("an approval by the host's user does not cover what has changed since", async () => {
  const event = EVENTS.gemini as (command: string) => object;
  writeFileSync(join(workspace, "deploy.sh"), "echo first\n");
  const { stdout } = await hook("gemini", event("cat deploy.sh | bash"));
  const answer = JSON.parse(stdout);
  assert.equal(answer.decision, "ask");
  writeFileSync(join(workspace, "deploy.sh"), "echo second\n");
  const ran = runAsHost(answer.hookSpecificOutput.tool_input.command);
  assert.deepEqual([ran.stdout, ran.code], ["", 126]);
});

test("tools that run no commands are left to the host, and unknown ones that do are denied", async () => {
  const claude = EVENTS["claude-code"] as (command: string, more?: object) => object;
  const passes: [string, object][] = [
    ["claude-code", claude("", { tool_name: "Read", tool_input: { file_path: "/x" } })],
    ["claude-code", claude("", { tool_name: "Monitor", tool_input: { description: "x", ws: { url: "ws://x" } } })],
    ["claude-code", claude("", { tool_name: "mcp__db__run", tool_input: { command: "select 1" } })],
    ["codex", EVENTS.codex?.("", { tool_name: "apply_patch", tool_input: { input: "*** Begin" } }) ?? {}],
    ["gemini", EVENTS.gemini?.("", { tool_name: "read_file", tool_input: { file_path: "x" } }) ?? {}],
    ["copilot", EVENTS.copilot?.("", { toolName: "view", toolArgs: '{"path":"x"}' }) ?? {}],
    ["qwen", EVENTS.qwen?.("", { tool_name: "edit", tool_input: { file_path: "x" } }) ?? {}],
  ];
  for (const [host, event] of passes) {
    const { stdout, code } = await hook(host, event);
    assert.deepEqual([host, stdout, code], [host, "", 0]);
  }
  const other = { tool_call: { id: "1", name: "read_files", input: { path: "x" } } };
  assert.equal((await hook("cline", EVENTS.cline?.("", other))).stdout, "{}\n");
  assert.equal((await hook("cursor", EVENTS.cursor?.("", { tool_name: "Read", tool_input: {} }))).stdout, "{}\n");

  const denied: [string, object][] = [
    ["claude-code", claude("", { tool_name: "PowerShell", tool_input: { command: "ls" } })],
    ["claude-code", claude("", { tool_name: "REPL", tool_input: { code: "1" } })],
    ["claude-code", claude("", { tool_name: "NewShell", tool_input: { command: "ls" } })],
    ["claude-code", claude("", { hook_event_name: "PostToolUse" })],
    ["claude-code", claude("", { tool_input: { command: ["ls"] } })],
    ["claude-code", claude("   ")],
    ["codex", EVENTS.codex?.("", { tool_name: "run", tool_input: { cmd: "ls" } }) ?? {}],
    ["gemini", EVENTS.gemini?.("", { hook_event_name: "AfterTool" }) ?? {}],
    ["copilot", EVENTS.copilot?.("", { toolName: "write_bash", toolArgs: { input: "ls" } }) ?? {}],
    ["copilot", EVENTS.copilot?.("", { toolArgs: "{" }) ?? {}],
    ["cline", EVENTS.cline?.("", { tool_call: { id: "1", name: "run_commands", input: { commands: [1] } } }) ?? {}],
  ];
  for (const [host, event] of denied) assert.equal(await answered(host, event), null, JSON.stringify([host, event]));
});

test("monitors and programs with arguments run through Sallyport too", async () => {
  const claude = EVENTS["claude-code"] as (command: string, more?: object) => object;
  const watch = { tool_name: "Monitor", tool_input: { command: "echo watched", description: "x", persistent: true } };
  assert.equal(runAsHost((await answered("claude-code", claude("", watch))) ?? "").stdout, "watched\n");
  const input = { commands: [{ command: "printf", args: ["%s", "a b'$(id)"] }, "echo two"] };
  const { stdout } = await hook("cline", EVENTS.cline?.("", { tool_call: { id: "1", name: "run_commands", input } }));
  const { commands } = JSON.parse(stdout).overrideInput as { commands: string[] };
  assert.deepEqual(
    commands.map((command) => runAsHost(command).stdout),
    ["a b'$(id)", "two\n"],
  );
});

test("qwen: a command runs only if the shell of the host is Sallyport's, and cannot be replaced", async () => {
  const event = EVENTS.qwen as (command: string) => object;
  const folder = mkdtempSync(join(tmpdir(), "sallyport-hook-"));
  const [outside, inside] = [join(folder, "bin"), join(workspace, "bin")];
  for (const bin of [outside, inside]) {
    mkdirSync(bin);
    symlinkSync(SHELL, join(bin, "bash"));
  }
  // With the native client, this is a program.
  const client = join(folder, "client");
  mkdirSync(client);
  symlinkSync(SHELL.replace(/js$/, "cjs"), join(client, "bash"));
  const shim = join(folder, "shim");
  mkdirSync(shim);
  writeFileSync(join(shim, "bash"), shellShim(["--agent", "qwen"]), { mode: 0o755 });
  const other = join(folder, "other");
  mkdirSync(other);
  writeFileSync(join(other, "bash"), `#!/bin/sh\nexec ${SHELL}x sh "$@"\n`, { mode: 0o755 });
  const decided = (path: string) => {
    // The installation that the shell belongs to.
    const { stdout, status } = spawnSync(process.execPath, [SHELL.replace("-sh.js", ".js"), "hook", "qwen"], {
      cwd: workspace,
      encoding: "utf8",
      input: JSON.stringify(event("ls")),
      env: {
        ...process.env,
        SALLYPORT_STATE: box.state,
        XDG_CONFIG_HOME: box.operator,
        PATH: `${path}:${process.env.PATH}`,
      },
    });
    return status === 0 ? JSON.parse(stdout).hookSpecificOutput.permissionDecision : status;
  };
  try {
    const paths = [
      outside,
      shim,
      client,
      "/usr/bin",
      inside,
      `${join(workspace, "later")}:${outside}`,
      `.:${outside}`,
      other,
    ];
    assert.deepEqual(paths.map(decided), ["allow", "allow", "allow", "deny", "deny", "deny", "deny", "deny"]);
    const ran = spawnSync(join(shim, "bash"), ["-c", "echo $0 shim; bash -c 'echo nested'"], {
      cwd: workspace,
      encoding: "utf8",
      env: {
        ...process.env,
        SALLYPORT_STATE: box.state,
        SALLYPORT_WORKSPACE: workspace,
        PATH: `${shim}:${process.env.PATH}`,
      },
    });
    assert.deepEqual([ran.stdout, ran.status], ["bash shim\nnested\n", 0], ran.stderr);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const BROKEN: [what: string, input: string | Buffer][] = [
  ["no event", ""],
  ["an incomplete event", '{"hook_event_name":"PreToolUse"'],
  ["an event that is no object", "[]"],
  ["an event that is null", "null"],
  ["bytes that are no text", Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
  ["no tool", '{"hook_event_name":"PreToolUse"}'],
  ["NUL bytes in the command", JSON.stringify(EVENTS["claude-code"]?.("ls\0-l"))],
  ["half a surrogate pair", JSON.stringify(EVENTS["claude-code"]?.("echo \ud800"))],
];

for (const [what, input] of BROKEN) {
  test(`denies ${what}`, async () => {
    for (const { name } of HOOK_FORMATS) {
      const found = await box.run(["hook", name], { input });
      const denied = found.code === 2 || /"(?:deny|cancel)"/.test(found.stdout);
      assert.ok(denied, `${name}: ${found.code} ${found.stdout}`);
    }
  });
}

test("denies when the state folder, the answer or the command line is not usable", async () => {
  const event = EVENTS["claude-code"]?.("ls");
  const file = join(box.state, "file");
  writeFileSync(file, "");
  assert.equal(await answered("claude-code", event, { env: { SALLYPORT_STATE: file } }), null);
  const full = await hook("claude-code", event, { shell: "> /dev/full" });
  assert.equal(full.code, 2);
  for (const redirection of [">&-", "> /dev/null"]) {
    const { code, stderr } = await hook("claude-code", event, { shell: redirection });
    assert.deepEqual(
      [code, /cannot write to stdout: it is closed, or \/dev\/null/.test(stderr)],
      [2, true],
      redirection,
    );
  }
  for (const args of [["hook"], ["hook", "nobody"], ["hook", "claude-code", "x"], ["hook", "--nothing"]]) {
    assert.equal((await box.run(args, { input: JSON.stringify(event) })).code, 2, args.join(" "));
  }
  writeFileSync(join(box.folder, "sallyport.json"), "{");
  assert.equal(await answered("claude-code", event), null);
  rmSync(join(box.folder, "sallyport.json"));
});

test("denies when the agent could have placed the configuration", async () => {
  const event = EVENTS["claude-code"]?.("ls");
  const { stdout } = await hook("claude-code", event, { env: { XDG_CONFIG_HOME: join(workspace, "inner") } });
  const { permissionDecision, permissionDecisionReason } = JSON.parse(stdout).hookSpecificOutput;
  assert.equal(permissionDecision, "deny");
  assert.match(permissionDecisionReason, /^sallyport: The folder .* is in the workspace/);
});

test("denies when it is interrupted", async () => {
  const child = box.spawn(["hook", "copilot"]);
  // Without an event, the hook waits.
  await until("the hook reads", () => /sallyport/.test(readFileSync(`/proc/${child.pid}/cmdline`, "utf8")));
  const ended = outcome(child);
  let found: Awaited<ReturnType<typeof outcome>> | null = null;
  void ended.then((each) => {
    found = each;
  });
  await until("the hook ends", () => {
    child.kill("SIGTERM");
    return found !== null;
  });
  const { stdout, signal } = await ended;
  // A signal before the hook listens ends it, which the command line of the configuration turns into a denial.
  assert.ok(signal === "SIGTERM" || JSON.parse(stdout).permissionDecision === "deny", stdout);
});

test("the command line for a host denies when the hook is missing, fails to start or is killed", () => {
  for (const format of HOOK_FORMATS) {
    const run = (argv: string[]) => {
      const line = hookCommandLine(format, { argv, env: {} });
      const found = spawnSync("sh", ["-c", line], {
        input: "{}",
        encoding: "utf8",
        env: { ...process.env, SALLYPORT_STATE: box.state },
      });
      return { code: found.status, stdout: found.stdout, stderr: found.stderr };
    };
    for (const argv of [
      ["/no/such/node", "hook", format.name],
      [process.execPath, "/no/such/script"],
      ["sh", "-c", "kill -9 $$"],
      ["sh", "-c", "exit 1"],
    ]) {
      const { code, stdout, stderr } = run(argv);
      assert.equal(code, format.failure.code, format.name);
      assert.ok(`${stdout}${stderr}`.includes("Sallyport could not check this command"), format.name);
      if (format.failure.code === 0) assert.ok(JSON.parse(stdout));
    }
    const itself = run([process.execPath, ENTRY, "hook", format.name]);
    assert.ok(!`${itself.stdout}${itself.stderr}`.includes("Sallyport could not check"), "its own reason is enough");
  }
});
