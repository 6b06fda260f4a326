/** Requirements of the toolset designs (docs/conformance.md) that concern more than one tool or need an MCP client. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import type { ToolsetName } from "../../../src/toolsets/tool.ts";
import { tools } from "../../../src/toolsets/tools.ts";
import { McpFixture } from "../../fixtures/mcp.ts";
import { pause, until } from "../../fixtures/until.ts";
import { Bench, type Result } from "./conformance.ts";
import { NEVER } from "./runner.ts";

const POLICY = { toolsets: { exec: true }, limits: { sessions: 10_000, startsPerMinute: 1_000_000 } };
const mcp = new McpFixture({ toolsets: { exec: true } });
const benches = new Map<ToolsetName, Promise<Bench>>();
let client: Client;

/** Returns a toolset on a real gateway, opened by the first test that uses it. */
function bench(toolset: ToolsetName): Promise<Bench> {
  const opened = benches.get(toolset) ?? new Bench().open(toolset, { policy: POLICY });
  benches.set(toolset, opened);
  return opened;
}

before(async () => {
  ({ client } = await mcp.stdio(["--tools", "bash,exec,process,runner,shell"], { capabilities: { elicitation: {} } }));
  client.setRequestHandler("elicitation/create", async () => {
    await pause(400); // An answer within 300 ms is not a person's.
    return { action: "accept", content: {} } as const;
  });
});
after(async () => {
  await mcp.close();
  for (const opened of benches.values()) await (await opened).fixture.close();
});

/** Calls a tool over MCP and returns the text that a model would read. */
async function text(name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

test("Bash matches denied names as bash does: case-sensitive, and with ASCII whitespace", async () => {
  const description = "Try a name that is not denied";
  for (const command of ["SUDO id", "true;\u00a0sudo id", "true;\u2003reboot"]) {
    const answer = await text("Bash", { command, description });
    assert.match(answer, /command not found/, command);
    assert.match(answer, /^exit: 127$/m, command);
  }
  assert.match(await text("Bash", { command: "true;\tsudo id", description }), /CommandDenied/);
});

test("execute and execute_pty take the same parameters and return the same fields", async () => {
  const exec = await bench("exec");
  for (const name of ["execute", "execute_pty"]) {
    const { inputSchema } = exec.tool(name);
    assert.deepEqual(Object.keys(inputSchema.properties as object), ["command", "cwd", "env", "timeout", "background"]);
    const { session_id, log_path, ...rest } = await exec.call(name, {
      command: 'mkdir -p a; cd a; echo "$MINE"; exit 3',
      cwd: ".",
      env: { MINE: "mine" },
      timeout: 30,
    });
    assert.ok(log_path.endsWith(`/${session_id}.log`));
    assert.match(readFileSync(log_path, "utf8"), /^mine\r?\n$/);
    const { exit_code, output, timed_out } = rest;
    assert.deepEqual([exit_code, output, timed_out], [3, "mine\n", false], name);
    const started = await exec.call(name, { command: "echo started", background: true });
    assert.ok("started\n".startsWith(started.output), started.output);
    await exec.gateway.session(started.session_id).wait();
  }
});

test("the instructions of a server whose tools are hidden do not claim that commands can run", async () => {
  const hidden = new McpFixture();
  try {
    const { client: other } = await hidden.stdio(["--tools", "exec"]);
    assert.deepEqual((await other.listTools()).tools, []);
    const instructions = other.getInstructions() ?? "";
    assert.match(
      instructions,
      /^If no tools are listed, the operator has disabled them: no command can run, and the rest/,
    );
    assert.match(instructions, /does not apply\. Otherwise, the tools run commands/);
  } finally {
    await hidden.close();
  }
});

test("process_list, process_poll and the kill action report the state of a session", async () => {
  const exec = await bench("exec");
  const older = (await exec.call("execute", { command: "seq 30; exit 4" })).session_id;
  const command = "echo up; sleep 600 & (setsid sleep 600 &); wait";
  const { session_id } = await exec.call("execute", { command, background: true });
  const { sessions, total } = await exec.call("process_list", { limit: 2 });
  assert.ok(total >= 2);
  assert.deepEqual(
    sessions.map((one: Result) => [one.session_id, one.status, one.exit_code]),
    [
      [session_id, "running", null],
      [older, "completed", 4],
    ],
  );
  const ended = await exec.call("process_poll", { session_id: older });
  assert.deepEqual([ended.running, ended.exit_code], [false, 4]);
  assert.match(ended.output, /^11\n[\s\S]*\n30\n$/);
  await until(
    "all processes are running",
    async () =>
      exec.gateway.session(session_id).usage().processes.length >= 3 &&
      (await exec.call("process_poll", { session_id })).output === "up\n",
  );
  assert.equal((await exec.call("process_poll", { session_id })).running, true);
  const { killed, status } = await exec.call("process_manager", { action: "kill", session_id });
  assert.deepEqual([killed, status], [true, "killed"]);
  await until("no process is left", () => exec.fixture.alive().length === 0);
});

test("the sandbox confines a command on a terminal as it does on pipes", async () => {
  const outside = join(mcp.fixture.visible, "outside");
  const command = `touch inside-$N; touch '${outside}'`;
  for (const [name, more] of [
    ["execute_pty", { env: { N: "1" } }],
    ["exec", { pty: true, env: { N: "2" } }],
    ["exec", { pty: false, env: { N: "3" } }],
  ] as const) {
    // The form of the client cannot show the whole command, so it is approved elsewhere.
    if ((await text(name, { command, ...more })).includes("ApprovalPending")) {
      await mcp.run("approve", (await mcp.run("approvals")).split("\t")[0] ?? "");
      await text(name, { command, ...more });
    }
    assert.ok(existsSync(mcp.fixture.path(`inside-${more.env.N}`)), `${name}: the command did not run`);
    assert.ok(!existsSync(outside), `${name} wrote outside the workspace`);
  }
});

test("a blocked command runs in no toolset, in the foreground or in the background", async () => {
  const calls: [name: string, more: object][] = [
    ["Bash", { description: "Try it" }],
    ["Bash", { description: "Try it", run_in_background: true }],
    ["run", { intent: "Try it", shell: true }],
    ["run_background", { intent: "Try it" }],
    ["process.run", {}],
    ["process.run", { background: true }],
    ["execute", {}],
    ["execute", { background: true }],
    ["execute_pty", {}],
    ["exec", {}],
    ["exec", { background: true }],
    ["exec", { pty: true }],
  ];
  for (const [name, more] of calls) {
    for (const command of NEVER) {
      const { isError, content } = await client.callTool({ name, arguments: { command, ...more } });
      assert.equal(isError, true, `${name} ${command}: ${JSON.stringify(content)}`);
      assert.match(JSON.stringify(content), /CommandBlocked|blocked/i, `${name} ${command}`);
    }
  }
});

test("the reason for a block says what the command would do, in run, run_background and is_blocked", async () => {
  const runner = await bench("runner");
  for (const [index, reason] of [
    [0, /delet/i],
    [2, /file system|disk/i],
    [6, /fork bomb/i],
    [8, /restart|reboot/i],
    [12, /firewall/i],
  ] as const) {
    const command = NEVER[index];
    for (const [name, more] of [
      ["run", { intent: "Try it", shell: true }],
      ["run_background", { intent: "Try it" }],
      ["is_blocked", {}],
    ] as const) {
      const { blocked, block_reason } = await runner.call(name, { command, ...more });
      assert.equal(blocked, true, `${name} ${command}`);
      assert.match(block_reason, reason, `${name} ${command}`);
    }
  }
});

test("is_blocked is marked as read-only, the other tools of runner are not", async () => {
  const { tools: listed } = await client.listTools();
  const hints = listed
    .filter(({ name }) => ["run", "run_background", "kill_process", "is_blocked"].includes(name))
    .map(({ name, annotations }) => [name, annotations?.readOnlyHint, annotations?.destructiveHint]);
  assert.deepEqual(hints, [
    ["run", false, true],
    ["run_background", false, true],
    ["kill_process", false, true],
    ["is_blocked", true, false],
  ]);
});

test("a command that fails runs once and is not repeated", async () => {
  const command = "echo ran >> tries; exit 1";
  await text("run", { command, intent: "Fail once", shell: true });
  await text("Bash", { command, description: "Fail once" });
  await text("process.run", { command });
  await text("exec", { command });
  assert.equal(readFileSync(mcp.fixture.path("tries"), "utf8"), "ran\n".repeat(4));
});

test("exec gives a terminal to a program that needs one, and pipes to others", async () => {
  const shell = await bench("shell");
  for (const [command, size] of [
    ["bash --norc", { columns: 120, rows: 30 }],
    ["cat", null],
  ] as const) {
    const { session_id } = await shell.call("exec", { command, background: true });
    const { pty } = shell.gateway.session(session_id).info();
    await shell.call("process", { action: "kill", session_id });
    assert.deepEqual(pty && { columns: pty.columns, rows: pty.rows }, size, command);
  }
});

test("exec denies a command that raises privileges", async () => {
  for (const command of ["sudo id", "su -c id", "doas id", "env A=1 sudo -n id"]) {
    assert.match(await text("exec", { command }), /CommandDenied/, command);
  }
});

test("with ask off a command that is not on the allowlist is denied without a request", async () => {
  const shell = await new Bench().open("shell", { policy: { ...POLICY, ask: "off" } });
  try {
    const { type } = await shell.failure("exec", { command: "python3 -c 'print(1)'", security: "allowlist" });
    assert.deepEqual([type, shell.asked], ["CommandDenied", []]);
  } finally {
    await shell.fixture.close();
  }
});

test("the process tools carry their version and tags", async () => {
  const { tools: listed } = await client.listTools();
  const carried = listed
    .filter(({ name }) => name.startsWith("process."))
    .map(({ name, _meta }) => [name, _meta?.version, _meta?.tags]);
  assert.deepEqual(carried, [
    ["process.run", "1.1", ["process", "execute", "sandbox"]],
    ["process.monitor", "1.0", ["process", "monitor", "status"]],
    ["process.kill", "1.0", ["process", "kill", "terminate"]],
    ["process.list", "1.0", ["process", "list", "status"]],
    ["process.logs", "1.0", ["process", "logs", "output"]],
  ]);
});

test("process.kill sends SIGKILL after SIGTERM only, not after another signal", async () => {
  const processes = await bench("process");
  // The process runs longer than `force_after` after the signal, so that a SIGKILL would be seen.
  const command = "trap 'sleep 2; echo survived' INT; echo ready; while :; do sleep 0.05; done";
  const { process_id } = await processes.call("process.run", { command, background: true });
  const written = async () => (await processes.call("process.logs", { process_id })).stdout;
  await until("the process handles SIGINT", async () => (await written()) === "ready\n");
  const { killed, signal_sent, state } = await processes.call("process.kill", {
    process_id,
    signal: "SIGINT",
    force_after: 1,
  });
  assert.deepEqual([killed, signal_sent, state], [false, "SIGINT", "running"]);
  await until("the process has handled SIGINT", async () => (await written()) === "ready\nsurvived\n");
  await processes.call("process.kill", { process_id, signal: "SIGKILL" });
});

test("process.kill reports a signal that cannot be delivered as KillFailed with force_kill", async () => {
  const processes = await bench("process");
  const { process_id } = await processes.call("process.run", { command: "sleep 600", background: true });
  // The gateway that started the process is connected to its keeper, so another one has to fail to connect.
  const other = await processes.fixture.open({ attach: false });
  const socket = join(processes.fixture.sessionFolder(process_id), "ctl");
  rmSync(socket);
  const kill = tools(other, "process").find(({ name }) => name === "process.kill");
  const answer = await kill?.call({ process_id });
  const error = answer?.structured.error as { type: string; recovery: { action: string }[] };
  assert.deepEqual([error.type, error.recovery[0]?.action], ["KillFailed", "force_kill"]);
  await processes.call("process.kill", { process_id, signal: "SIGKILL" });
});
