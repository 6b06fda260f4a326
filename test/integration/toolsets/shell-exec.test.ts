import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { until } from "../../fixtures/until.ts";
import { type Bench, conformance, property, required, type Statement } from "./conformance.ts";

const exec = (bench: Bench, command: string, more: object = {}) => bench.call("exec", { command, ...more });

async function start(bench: Bench, command: string, more: object = {}): Promise<string> {
  return (await exec(bench, command, { background: true, ...more })).session_id;
}

const MODES: Statement[] = [
  {
    at: "Solution",
    says: "one tool runs commands, and the other manages sessions",
    holds: async (bench) => assert.deepEqual(bench.names(), ["exec", "process"]),
  },
  {
    at: "Implementation sketch, options",
    says: "accepts command, working directory, environment, terminal and timeout",
    holds: async (bench) => {
      const tool = bench.tool("exec");
      assert.deepEqual(required(tool), ["command"]);
      assert.deepEqual(Object.keys(tool.inputSchema.properties as object), [
        "command",
        "workdir",
        "env",
        "yieldMs",
        "background",
        "timeout",
        "pty",
        "security",
        "ask",
      ]);
      assert.deepEqual([property(tool, "yieldMs").default, property(tool, "pty").default], [10_000, "auto"]);
      mkdirSync(bench.fixture.path("inner"));
      const { aggregated } = await exec(bench, "pwd; echo $MINE", { workdir: "inner", env: { MINE: "yes" } });
      assert.equal(aggregated, `${bench.fixture.path("inner")}\nyes\n`);
      const outside = await bench.call("exec", { command: "pwd", workdir: "/" });
      assert.match(outside.error.message, /`workdir`/);
    },
  },
  {
    at: "Core concepts, PTY-first",
    says: "a command that needs a terminal gets one of 120 columns and 30 rows, and others get none",
    holds: async (bench) => {
      const { aggregated } = await exec(bench, "stty size", { pty: true });
      assert.equal(aggregated, "30 120\n");
      assert.equal((await exec(bench, "test -t 1 || echo pipe", { pty: false })).aggregated, "pipe\n");
      assert.equal((await exec(bench, "test -t 1 || echo pipe")).aggregated, "pipe\n");
    },
  },
  {
    at: "Core concepts, Graceful PTY fallback",
    says: "warnings list fallbacks only",
    holds: async (bench) => assert.deepEqual((await exec(bench, "true", { pty: true })).warnings, []),
  },
  {
    at: "Implementation sketch, timeout",
    says: "the default is 1800 s, and 0 means no timeout",
    holds: async (bench) => {
      const deadline = async (more: object) =>
        bench.gateway.session((await exec(bench, "true", more)).session_id).info().timeoutMs;
      assert.deepEqual([await deadline({}), await deadline({ timeout: 0 })], [1_800_000, 0]);
    },
  },
  {
    at: "Implementation sketch, timeout",
    says: "a timeout sends SIGTERM and returns timed_out, exit_signal and the output",
    holds: async (bench) => {
      const late = await exec(bench, "echo part; exec sleep 60", { timeout: 3 });
      assert.deepEqual(
        [late.timed_out, late.status, late.exit_signal, late.exit_code, late.aggregated],
        [true, "timed_out", "SIGTERM", null, "part\n"],
      );
    },
  },
  {
    at: "Implementation sketch, killSession",
    says: "SIGKILL follows after 1 s when SIGTERM is ignored",
    holds: async (bench) => {
      const late = await exec(bench, "trap '' TERM; echo deaf; while :; do sleep 1; done", { timeout: 3 });
      assert.deepEqual([late.timed_out, late.exit_signal, late.aggregated], [true, "SIGKILL", "deaf\n"]);
    },
  },
  {
    at: "Core concepts, Proper signal propagation",
    says: "all child processes are killed at the timeout, and no zombie is left",
    holds: async (bench) => {
      await exec(bench, "sleep 60 & (setsid sleep 60 &); sleep 60", { timeout: 1 });
      await until("no process is left", () => bench.fixture.alive().length === 0);
    },
  },
  {
    at: "Core concepts, Proper signal propagation",
    says: "all child processes are killed when the call is aborted",
    holds: async (bench) => {
      const controller = new AbortController();
      const running = bench.call("exec", { command: "sleep 60 & sleep 60" }, { signal: controller.signal });
      await until("the command is running", () => bench.fixture.alive().length >= 3);
      controller.abort();
      assert.equal((await running).status, "killed");
      await until("no process is left", () => bench.fixture.alive().length === 0);
    },
  },
];

const SECURITY: Statement[] = [
  {
    at: "Security-aware modes, deny",
    says: "nothing runs",
    holds: async (bench) =>
      assert.equal((await bench.failure("exec", { command: "true", security: "deny" })).type, "CommandDenied"),
  },
  {
    at: "Security-aware modes, allowlist with ask on-miss",
    says: "a command not on the allowlist requires approval and can be denied",
    holds: async (bench) => {
      bench.asked.length = 0;
      const command = "python3 -c 'print(1)'";
      bench.answer = "deny";
      const { type } = await bench.failure("exec", { command, security: "allowlist", ask: "on-miss" });
      bench.answer = "once";
      assert.deepEqual([type, bench.asked.length], ["CommandDenied", 1]);
    },
  },
  {
    at: "Security-aware modes, ask always",
    says: "every command requires approval",
    holds: async (bench) => {
      bench.asked.length = 0;
      await exec(bench, "true", { ask: "always" });
      assert.equal(bench.asked.length, 1);
    },
  },
  {
    at: "Security-aware modes",
    says: "a looser mode than configured has no effect",
    holds: async (bench) => {
      const strict = await bench.fixture.open({ policy: { security: "deny" } });
      const { tools } = await import("../../../src/toolsets/tools.ts");
      const [tool] = tools(strict, "shell");
      const answer = await tool?.call({ command: "true", security: "full", ask: "off" });
      assert.equal(answer?.isError, true);
    },
  },
];

const BACKGROUND: Statement[] = [
  {
    at: "Background process management, ProcessSession",
    says: "a session has id, command, pid, output, exit state and background state",
    holds: async (bench) => {
      const { session_id, duration_ms, ...rest } = await exec(bench, "echo done; exit 4");
      assert.equal(typeof session_id, "string");
      assert.ok(duration_ms >= 0);
      assert.deepEqual(rest, {
        command: "echo done; exit 4",
        status: "completed",
        pid: null,
        exited: true,
        exit_code: 4,
        exit_signal: null,
        timed_out: false,
        backgrounded: false,
        warnings: [],
        note: "Exit code 4.",
        aggregated: "done\n",
        tail: "done\n",
      });
    },
  },
  {
    at: "Background process management, markBackgrounded",
    says: "a command that is still running after yieldMs continues in the background, and its exit is reported",
    holds: async (bench) => {
      const command = "echo early; while ! test -e go; do sleep 0.02; done; echo late";
      const first = await exec(bench, command, { yieldMs: 100 });
      assert.deepEqual([first.status, first.backgrounded, first.exited], ["running", true, false]);
      assert.ok(first.pid > 0);
      const session = bench.gateway.session(first.session_id);
      assert.equal(session.info().background, true);
      await exec(bench, "touch go");
      await session.wait();
      const { output, status } = await bench.call("process", { action: "poll", session_id: first.session_id });
      assert.equal(status, "completed");
      assert.equal(first.aggregated + output, "early\nlate\n");
      const told = bench.gateway.work
        .list()
        .filter(({ payload }) => (payload as { session_id: string }).session_id === first.session_id);
      assert.equal(told.length, 1);
    },
  },
  {
    at: "Background process management",
    says: "with background the call returns immediately, and the exit is reported once",
    holds: async (bench) => {
      const id = await start(bench, "exit 9");
      await bench.gateway.session(id).wait();
      const told = bench.gateway.work.list().map(({ payload }) => payload as { session_id: string; exit_code: number });
      assert.deepEqual(
        told.filter(({ session_id }) => session_id === id).map(({ exit_code }) => exit_code),
        [9],
      );
    },
  },
  {
    at: "Pitfalls, Output truncation",
    says: "aggregated omits the middle of output over 200,000 bytes, and tail holds the last 2,000 bytes",
    holds: async (bench) => {
      const { aggregated, tail } = await exec(bench, "seq 100000");
      assert.ok(Buffer.byteLength(aggregated) <= 200_000);
      assert.match(aggregated, /^1\n2\n/);
      assert.match(aggregated, /left out; read them with process action=log session_id=/);
      assert.ok(Buffer.byteLength(tail) <= 2000 && aggregated.endsWith(tail));
    },
  },
  {
    at: "Pitfalls, Zombie processes",
    says: "a session that has ended stays in the registry until it is cleared",
    holds: async (bench) => {
      const { session_id } = await exec(bench, "true");
      const ids = async () =>
        (await bench.call("process", { action: "list" })).sessions.map((one: { session_id: string }) => one.session_id);
      assert.ok((await ids()).includes(session_id));
      assert.equal((await bench.call("process", { action: "clear", session_id })).removed, true);
      assert.ok(!(await ids()).includes(session_id));
    },
  },
];

conformance("shell", "Intelligent Bash Tool Execution", [...MODES, ...SECURITY, ...BACKGROUND]);
