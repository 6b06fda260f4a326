import assert from "node:assert/strict";
import { until } from "../../fixtures/until.ts";
import { type Bench, conformance, property, required, type Statement } from "./conformance.ts";

async function start(bench: Bench, command: string): Promise<string> {
  return (await bench.call("process.run", { command, background: true })).process_id;
}

async function done(bench: Bench, command: string): Promise<string> {
  const id = await start(bench, command);
  await bench.gateway.session(id).wait();
  return id;
}

/** Starts a process that ignores SIGTERM, and waits until its trap is set. */
async function stubborn(bench: Bench): Promise<string> {
  const id = await start(bench, "trap '' TERM; echo ready; while :; do sleep 1; done");
  await until("the process ignores SIGTERM", async () => (await bench.gateway.session(id).logs()).text === "ready\n");
  return id;
}

const USAGE = ["cpu_ms", "memory_peak_bytes", "io_read_bytes", "io_write_bytes"];
const ENTRY = ["process_id", "command", "state", "exit_code", "started_at", "duration_ms", "resource_usage"];

const MONITOR: Statement[] = [
  {
    at: "process.monitor, Outputs",
    says: "a running process has exactly the fields of the contract",
    holds: async (bench) => {
      const process_id = await start(bench, "sleep 60");
      const told = await bench.call("process.monitor", { process_id });
      assert.deepEqual(Object.keys(told).sort(), [...ENTRY].sort());
      assert.deepEqual([told.process_id, told.command], [process_id, "sleep 60"]);
      assert.deepEqual([told.state, told.exit_code], ["running", null]);
      assert.deepEqual(Object.keys(told.resource_usage), USAGE);
      assert.equal(new Date(told.started_at).toISOString(), told.started_at);
      await bench.call("process.kill", { process_id });
      const after = await bench.call("process.monitor", { process_id });
      assert.deepEqual([after.state, after.exit_code], ["killed", null]);
      assert.equal(after.started_at, told.started_at);
    },
  },
  {
    at: "process.monitor, Outputs: state and exit_code",
    says: "a completed process has an exit code, a timed-out one has none",
    holds: async (bench) => {
      const completed = await bench.call("process.monitor", { process_id: await done(bench, "exit 3") });
      assert.deepEqual([completed.state, completed.exit_code], ["completed", 3]);
      const { process_id } = await bench.call("process.run", { command: "sleep 60", timeout: 1 });
      const late = await bench.call("process.monitor", { process_id });
      assert.deepEqual([late.state, late.exit_code], ["timed_out", null]);
    },
  },
  ...["process.monitor", "process.kill", "process.logs"].map(
    (name): Statement => ({
      at: `${name}, Errors: ProcessNotFound`,
      says: "rejects an unknown id with the recovery action list_processes",
      holds: async (bench) => {
        const expected = { type: "ProcessNotFound", actions: ["list_processes"] };
        assert.deepEqual(await bench.failure(name, { process_id: "nothing-like-this" }), expected);
        const { process_id } = await bench.call("process.run", { command: "true" });
        await bench.gateway.session(process_id).remove();
        assert.deepEqual(await bench.failure(name, { process_id }), expected);
      },
    }),
  ),
];

const KILL: Statement[] = [
  {
    at: "process.kill, Inputs",
    says: "the defaults are SIGTERM and 10 s",
    holds: async (bench) => {
      const tool = bench.tool("process.kill");
      assert.deepEqual(required(tool), ["process_id"]);
      assert.deepEqual([property(tool, "signal").default, property(tool, "force_after").default], ["SIGTERM", 10]);
    },
  },
  {
    at: "process.kill, Outputs",
    says: "returns killed, signal_sent, process_id and state",
    holds: async (bench) => {
      const process_id = await start(bench, "sleep 60");
      assert.deepEqual(await bench.call("process.kill", { process_id }), {
        killed: true,
        signal_sent: "SIGTERM",
        process_id,
        state: "killed",
      });
    },
  },
  {
    at: "process.kill, Inputs: signal",
    says: "SIGKILL ends the process immediately",
    holds: async (bench) => {
      const process_id = await stubborn(bench);
      const told = await bench.call("process.kill", { process_id, signal: "SIGKILL" });
      assert.deepEqual([told.killed, told.signal_sent, told.state], [true, "SIGKILL", "killed"]);
    },
  },
  {
    at: "process.kill, Inputs: force_after",
    says: "SIGKILL follows when SIGTERM is ignored",
    holds: async (bench) => {
      const process_id = await stubborn(bench);
      const told = await bench.call("process.kill", { process_id, force_after: 1 });
      assert.deepEqual([told.killed, told.signal_sent, told.state], [true, "SIGKILL", "killed"]);
    },
  },
  {
    at: "process.kill, Inputs: force_after",
    says: "with 0, SIGKILL does not follow",
    holds: async (bench) => {
      const process_id = await stubborn(bench);
      const told = await bench.call("process.kill", { process_id, force_after: 0 });
      assert.deepEqual([told.killed, told.signal_sent, told.state], [false, "SIGTERM", "running"]);
      await bench.call("process.kill", { process_id, signal: "SIGKILL" });
    },
  },
  {
    at: "process.kill, Side effects",
    says: "child processes are killed, too",
    holds: async (bench) => {
      const process_id = await start(bench, "sleep 60 & (setsid sleep 60 &); wait");
      await until("all processes are running", () => bench.gateway.session(process_id).usage().processes.length >= 3);
      await bench.call("process.kill", { process_id });
      await until("all processes have exited", () => bench.fixture.alive().length === 0);
    },
  },
  {
    at: "process.kill, Errors: ProcessAlreadyExited",
    says: "rejects an ended process with the recovery action check_status, and killed is false",
    holds: async (bench) => {
      const process_id = await done(bench, "true");
      const { killed, state, error } = await bench.call("process.kill", { process_id });
      assert.deepEqual([killed, state, error.type], [false, "completed", "ProcessAlreadyExited"]);
      assert.deepEqual(
        error.recovery.map(({ action }: { action: string }) => action),
        ["check_status"],
      );
    },
  },
];

const LIST: Statement[] = [
  {
    at: "process.list, Inputs",
    says: "the defaults are all states and at most 50 processes",
    holds: async (bench) => {
      const tool = bench.tool("process.list");
      assert.deepEqual([property(tool, "state_filter").default, property(tool, "limit").default], ["all", 50]);
    },
  },
  {
    at: "process.list, Outputs",
    says: "entries have exactly the fields of the contract, most recent first, and total counts all",
    holds: async (bench) => {
      const first = await done(bench, "exit 4");
      const second = await done(bench, "true");
      const { processes, total } = await bench.call("process.list", { limit: 2 });
      assert.deepEqual([processes[0].process_id, processes[1].process_id], [second, first]);
      assert.deepEqual(Object.keys(processes[1]).sort(), [...ENTRY].sort());
      assert.equal(processes[1].exit_code, 4);
      assert.ok(total > 2);
    },
  },
  ...(["running", "completed", "killed", "timed_out"] as const).map(
    (state): Statement => ({
      at: "process.list, Inputs: state_filter",
      says: `${state} returns only processes in that state`,
      holds: async (bench) => {
        const id = await start(bench, "sleep 60");
        const { processes, total } = await bench.call("process.list", { state_filter: state, limit: 500 });
        assert.ok(processes.length > 0);
        assert.equal(processes.length, total);
        assert.deepEqual([...new Set(processes.map((each: { state: string }) => each.state))], [state]);
        await bench.call("process.kill", { process_id: id });
      },
    }),
  ),
  {
    at: "process.list",
    says: "lists neither refused commands nor other agents' processes",
    holds: async (bench) => {
      const refused = await bench.call("process.run", { command: "rm -rf /" });
      const other = await bench.fixture.open({ agent: "somebody-else" });
      const { id } = await other.run({ command: "true" });
      const { processes } = await bench.call("process.list", { limit: 500 });
      const ids = processes.map((each: { process_id: string }) => each.process_id);
      assert.ok(!ids.includes(refused.process_id) && !ids.includes(id));
      assert.equal((await bench.failure("process.monitor", { process_id: id })).type, "ProcessNotFound");
    },
  },
  {
    at: "process.list, Errors: InvalidFilter",
    says: "rejects an unknown filter with the recovery action use_valid_filter",
    holds: async (bench) =>
      assert.deepEqual(await bench.failure("process.list", { state_filter: "sleeping" }), {
        type: "InvalidFilter",
        actions: ["use_valid_filter"],
      }),
  },
];

const LOGS: Statement[] = [
  {
    at: "process.logs, Outputs",
    says: "returns both streams, their sizes, truncated, the id and the state",
    holds: async (bench) => {
      const process_id = await done(bench, "echo out; echo errors >&2");
      assert.deepEqual(await bench.call("process.logs", { process_id }), {
        stdout: "out\n",
        stderr: "errors\n",
        stdout_size: 4,
        stderr_size: 7,
        stdout_consumed: 4,
        stderr_consumed: 7,
        truncated: false,
        process_id,
        state: "completed",
      });
    },
  },
  {
    at: "process.logs, Inputs: stream",
    says: "the default is both; with one stream the other is empty",
    holds: async (bench) => {
      const process_id = await done(bench, "echo out; echo errors >&2");
      assert.equal(property(bench.tool("process.logs"), "stream").default, "both");
      const out = await bench.call("process.logs", { process_id, stream: "stdout" });
      assert.deepEqual([out.stdout, out.stderr, out.stderr_size], ["out\n", "", 7]);
      const errors = await bench.call("process.logs", { process_id, stream: "stderr" });
      assert.deepEqual([errors.stdout, errors.stderr, errors.stdout_size], ["", "errors\n", 4]);
    },
  },
  {
    at: "process.logs, Inputs: offset and limit",
    says: "offset and limit are bytes, and truncated is true when there is more",
    holds: async (bench) => {
      const process_id = await done(bench, "printf 0123456789");
      const middle = await bench.call("process.logs", { process_id, offset: 3, limit: 4 });
      assert.deepEqual([middle.stdout, middle.truncated, middle.stdout_size], ["3456", true, 10]);
      const end = await bench.call("process.logs", { process_id, offset: 7, limit: 4 });
      assert.deepEqual([end.stdout, end.truncated], ["789", false]);
    },
  },
  {
    at: "process.logs, Inputs: offset and limit",
    says: "splits no character and reports the bytes consumed",
    holds: async (bench) => {
      const process_id = await done(bench, "printf 'aäö😀z'");
      const parts: string[] = [];
      for (let offset = 0; offset < 10; ) {
        const { stdout, stdout_consumed } = await bench.call("process.logs", { process_id, offset, limit: 3 });
        assert.ok(stdout_consumed > 0);
        parts.push(stdout);
        offset += stdout_consumed;
      }
      assert.equal(parts.join(""), "aäö😀z");
    },
  },
  {
    at: "process.logs, Common patterns",
    says: "a running process can be followed from the end of the last read",
    holds: async (bench) => {
      const process_id = await start(bench, "echo one; while ! test -e go; do sleep 0.02; done; echo two");
      let text = "";
      const read = async () => {
        const offset = Buffer.byteLength(text);
        text += (await bench.call("process.logs", { process_id, stream: "stdout", offset, limit: 4096 })).stdout;
        return text;
      };
      await until("the first line is written", async () => (await read()) === "one\n");
      await bench.call("process.run", { command: "touch go" });
      await until("the second line is written", async () => (await read()) === "one\ntwo\n");
    },
  },
  {
    at: "process.logs, Errors: InvalidStream",
    says: "rejects an unknown stream with the recovery action use_valid_stream",
    holds: async (bench) =>
      assert.deepEqual(await bench.failure("process.logs", { process_id: "any", stream: "stdlog" }), {
        type: "InvalidStream",
        actions: ["use_valid_stream"],
      }),
  },
  {
    at: "in addition to the contract",
    says: "returns at most 64 KiB per call, and all output can be read",
    holds: async (bench) => {
      const process_id = await done(bench, "seq 30000; seq 30000 >&2");
      const { stdout, stderr, truncated } = await bench.call("process.logs", { process_id });
      assert.ok(Buffer.byteLength(stdout) + Buffer.byteLength(stderr) <= 64 * 1024);
      assert.ok(Buffer.byteLength(stdout) >= 32 * 1024 - 4 && truncated);
      let text = "";
      for (let more = true; more; ) {
        const part = await bench.call("process.logs", {
          process_id,
          stream: "stdout",
          offset: Buffer.byteLength(text),
          limit: 1 << 20,
        });
        text += part.stdout;
        more = part.truncated;
      }
      assert.equal(text, Array.from({ length: 30_000 }, (_, n) => `${n + 1}\n`).join(""));
    },
  },
];

conformance("process", "Process Capabilities", [...MONITOR, ...KILL, ...LIST, ...LOGS]);
