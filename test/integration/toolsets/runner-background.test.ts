import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { isRunning } from "../../fixtures/processes.ts";
import { until } from "../../fixtures/until.ts";
import { type Bench, conformance, property, required, type Statement } from "./conformance.ts";
import { intent, NEVER, shell } from "./runner.ts";

const start = (bench: Bench, command: string, more: object = {}) =>
  bench.call("run_background", { command, intent, ...more });
const kill = (bench: Bench, pid: number, more: object = {}) => bench.call("kill_process", { pid, intent, ...more });

const BACKGROUND: Statement[] = [
  {
    at: "run_background, Inputs",
    says: "command is required; cwd and log_file are not",
    holds: async (bench) => {
      assert.deepEqual(required(bench.tool("run_background")), ["command", "intent"]);
      for (const name of ["cwd", "log_file"]) property(bench.tool("run_background"), name);
    },
  },
  {
    at: "run_background, Outputs",
    says: "returns success, pid and command immediately, and the pid is that of the process",
    holds: async (bench) => {
      const { success, pid, command, process_id } = await start(bench, "exec sleep 60");
      assert.deepEqual([success, command], [true, "exec sleep 60"]);
      assert.ok(isRunning(pid));
      assert.equal(bench.gateway.session(process_id).info().pid, pid);
      await kill(bench, pid);
    },
  },
  {
    at: "run_background, Inputs: log_file",
    says: "stdout and stderr are written to log_file, which is overwritten",
    holds: async (bench) => {
      const log = bench.fixture.path("server.log");
      const { process_id } = await start(bench, "echo out; echo err >&2", { log_file: "server.log" });
      await bench.gateway.session(process_id).wait();
      assert.equal(readFileSync(log, "utf8"), "out\nerr\n");
      await bench.gateway.session((await start(bench, "echo new", { log_file: log })).process_id).wait();
      assert.equal(readFileSync(log, "utf8"), "new\n");
    },
  },
  {
    at: "run_background, Implementation",
    says: "a blocked command is not started",
    holds: async (bench) => {
      const { success, pid, blocked, block_reason } = await start(bench, "shutdown -h now");
      assert.deepEqual([success, pid, blocked], [false, null, true]);
      assert.ok(block_reason);
    },
  },
  {
    at: "run_background, Inputs: cwd",
    says: "the command runs in cwd, through the shell",
    holds: async (bench) => {
      await shell(bench, "mkdir -p there");
      const { process_id } = await start(bench, "touch made && true", { cwd: "there" });
      await bench.gateway.session(process_id).wait();
      assert.ok(existsSync(bench.fixture.path("there", "made")));
    },
  },
  {
    at: "Constraints",
    says: "background processes are visible to other gateways",
    holds: async (bench) => {
      const { process_id, pid } = await start(bench, "sleep 60");
      const other = await bench.fixture.open();
      assert.equal(other.session(process_id).info().status, "running");
      await kill(bench, pid);
    },
  },
  {
    at: "kill_process, Inputs",
    says: "the default grace period is 5 s",
    holds: async (bench) => assert.equal(property(bench.tool("kill_process"), "graceful_timeout").default, 5),
  },
  {
    at: "kill_process",
    says: "SIGTERM comes first and can be handled, and descendants are terminated",
    holds: async (bench) => {
      const command = "trap 'echo asked > polite; exit 0' TERM; sleep 60 & (setsid sleep 60 &); while :; do wait; done";
      const { pid, process_id } = await start(bench, command);
      await until(
        "the child processes are running",
        () => bench.gateway.session(process_id).usage().processes.length >= 3,
      );
      assert.deepEqual(await kill(bench, pid), { success: true });
      assert.equal(readFileSync(bench.fixture.path("polite"), "utf8"), "asked\n");
      await until("all processes have exited", () => bench.fixture.alive().length === 0);
    },
  },
  {
    at: "kill_process",
    says: "SIGKILL follows when SIGTERM is ignored",
    holds: async (bench) => {
      const { pid, process_id } = await start(bench, "trap '' TERM; echo ready; while :; do sleep 1; done");
      const session = bench.gateway.session(process_id);
      await until("the process ignores SIGTERM", async () => (await session.logs()).text === "ready\n");
      assert.deepEqual(await kill(bench, pid, { graceful_timeout: 1 }), { success: true });
      assert.equal(session.info().signal, "SIGKILL");
    },
  },
  {
    at: "kill_process, Implementation",
    says: "succeeds for a process that has exited",
    holds: async (bench) => {
      const { pid, process_id } = await start(bench, "true");
      await bench.gateway.session(process_id).wait();
      assert.deepEqual(await kill(bench, pid), { success: true });
    },
  },
  {
    at: "kill_process, Implementation",
    says: "rejects a process that is not a command of a session, and does not kill it",
    holds: async (bench) => {
      for (const pid of [1, process.pid, process.ppid]) {
        assert.equal((await kill(bench, pid)).success, false);
        assert.ok(isRunning(pid));
      }
    },
  },
  {
    at: "kill_process, Intent required",
    says: "the intent of a kill is audited",
    holds: async (bench) => {
      const { pid } = await start(bench, "sleep 60");
      await kill(bench, pid, { intent: "no longer wanted" });
      const entry = bench.gateway.audit.tail(20).findLast(({ kind }) => kind === "signal");
      assert.equal((entry?.detail as { intent: string } | undefined)?.intent, "no longer wanted");
    },
  },
  {
    at: "is_blocked, Outputs",
    says: "returns blocked with a reason, or not blocked with null, and runs nothing",
    holds: async (bench) => {
      const sessions = bench.gateway.count();
      for (const command of NEVER) {
        const { blocked, block_reason } = await bench.call("is_blocked", { command });
        assert.deepEqual([blocked, typeof block_reason], [true, "string"], command);
      }
      for (const command of ["ls -la /tmp", 'echo "rm -rf /"', "grep -r reboot docs/"]) {
        assert.deepEqual(await bench.call("is_blocked", { command }), { blocked: false, block_reason: null });
      }
      assert.equal(bench.gateway.count(), sessions);
    },
  },
];

conformance("runner", "process-runner", BACKGROUND);
