import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { until } from "../../fixtures/until.ts";
import { type Bench, conformance, property, required, type Statement } from "./conformance.ts";

const run = (bench: Bench, args: object) => bench.call("process.run", args);
const sh = (bench: Bench, command: string, more: object = {}) => run(bench, { command, ...more });

const OVERVIEW: Statement[] = [
  {
    at: "Overview",
    says: "the tools are process.run, process.monitor, process.kill, process.list and process.logs",
    holds: async (bench) =>
      assert.deepEqual(bench.names(), [
        "process.run",
        "process.monitor",
        "process.kill",
        "process.list",
        "process.logs",
      ]),
  },
  {
    at: "Overview, Permission",
    says: "run and kill notify, the others are autonomous",
    holds: async (bench) => {
      const tiers = bench.names().map((name) => bench.tool(name).permission);
      assert.deepEqual(tiers, ["notify", "autonomous", "notify", "autonomous", "autonomous"]);
      bench.events.length = 0;
      const { process_id } = await sh(bench, "sleep 60", { background: true });
      await bench.call("process.monitor", { process_id });
      await bench.call("process.list", {});
      await bench.call("process.logs", { process_id });
      assert.deepEqual(
        bench.events.map((event) => (event.type === "operation" ? event.operation : event.type)),
        ["started", "run"],
      );
      await bench.call("process.kill", { process_id });
      assert.deepEqual(bench.events.at(-1), { type: "operation", operation: "kill", session: process_id });
    },
  },
];

const INPUTS: Statement[] = [
  {
    at: "process.run, Inputs",
    says: "only command is required, and the defaults are as listed",
    holds: async (bench) => {
      const tool = bench.tool("process.run");
      assert.deepEqual(required(tool), ["command"]);
      assert.deepEqual(Object.keys(tool.inputSchema.properties as object), [
        "command",
        "args",
        "working_directory",
        "environment",
        "timeout",
        "background",
        "stdin",
        "cpu_limit",
        "memory_limit",
        "stdout_lines",
      ]);
      assert.equal(property(tool, "background").default, false);
      assert.equal(property(tool, "stdout_lines").default, 100);
    },
  },
  {
    at: "process.run, Inputs: command",
    says: "without args the command is passed to the shell",
    holds: async (bench) => assert.equal((await sh(bench, "echo a b | tr a-b x")).stdout_summary, "x x\n"),
  },
  {
    at: "process.run, Inputs: args",
    says: "each element is one argument, without a shell",
    holds: async (bench) => {
      const { stdout_summary } = await run(bench, { command: "printf", args: ["[%s]", "a b", "|", "$HOME", "'"] });
      assert.equal(stdout_summary, "[a b][|][$HOME][']");
      assert.equal((await run(bench, { command: "pwd", args: [] })).exit_code, 0);
    },
  },
  {
    at: "process.run, Inputs: working_directory",
    says: "the default is the workspace root, and other folders must be inside it",
    holds: async (bench) => {
      mkdirSync(bench.fixture.path("inner"));
      assert.equal((await sh(bench, "pwd")).stdout_summary, `${bench.fixture.workspace}\n`);
      assert.equal(
        (await sh(bench, "pwd", { working_directory: "inner" })).stdout_summary,
        `${bench.fixture.path("inner")}\n`,
      );
      const outside = await bench.failure("process.run", { command: "pwd", working_directory: "/" });
      assert.deepEqual(outside, { type: "PathOutOfScope", actions: ["check_scope"] });
    },
  },
  {
    at: "process.run, Inputs: environment",
    says: "variables are added, and protected ones cannot be set",
    holds: async (bench) => {
      const { stdout_summary } = await sh(bench, 'echo "$ADDED"; test -n "$PATH"', { environment: { ADDED: "1" } });
      assert.equal(stdout_summary, "1\n");
      for (const name of ["LD_PRELOAD", "HOME"]) {
        const { error } = await sh(bench, "true", { environment: { [name]: "/x" } });
        assert.match(error?.message ?? "", new RegExp(`environment.${name}`));
      }
    },
  },
  {
    at: "process.run, Inputs: timeout",
    says: "the default is 300 s, and more than 3600 s is rejected",
    holds: async (bench) => {
      const { process_id } = await sh(bench, "true");
      assert.equal(bench.gateway.session(process_id).info().timeoutMs, 300_000);
      assert.equal(property(bench.tool("process.run"), "timeout").maximum, 3600);
      const refused = await bench.failure("process.run", { command: "true", timeout: 3601 });
      assert.equal(refused.type, "InvalidRequest");
    },
  },
  {
    at: "process.run, Inputs: background",
    says: "returns immediately with a process_id, running and without a deadline",
    holds: async (bench) => {
      const { process_id, state, exit_code } = await sh(bench, "sleep 60", { background: true, timeout: 1 });
      assert.deepEqual([state, exit_code], ["running", null]);
      assert.equal(bench.gateway.session(process_id).info().timeoutMs, 0);
      await bench.call("process.kill", { process_id });
    },
  },
  {
    at: "process.run, Inputs: stdin",
    says: "stdin is passed to the process, and ignored in the background",
    holds: async (bench) => {
      assert.equal((await sh(bench, "cat", { stdin: "given\n" })).stdout_summary, "given\n");
      const { process_id } = await sh(bench, "cat", { stdin: "given\n", background: true });
      await bench.gateway.session(process_id).wait();
      assert.equal((await bench.call("process.logs", { process_id })).stdout, "");
    },
  },
  {
    at: "process.run, Inputs: cpu_limit and memory_limit",
    says: "limits apply to the command",
    holds: async (bench) => {
      const { process_id } = await sh(bench, "true", { cpu_limit: 0.5, memory_limit: 256 << 20 });
      const { limits } = bench.gateway.session(process_id).info();
      assert.deepEqual([limits?.cpu, limits?.memoryBytes], [0.5, 256 << 20]);
      for (const wrong of [{ cpu_limit: 0 }, { cpu_limit: -1 }, { memory_limit: 0 }, { memory_limit: 1.5 }]) {
        assert.equal((await bench.failure("process.run", { command: "true", ...wrong })).type, "InvalidRequest");
      }
    },
  },
  {
    at: "process.run, Inputs: stdout_lines",
    says: "the summaries hold the requested number of last lines, by default 100",
    holds: async (bench) => {
      const lines = (text: string) => text.trimEnd().split("\n");
      const { stdout_summary, stderr_summary } = await sh(bench, "seq 250; seq 250 >&2");
      assert.deepEqual([lines(stdout_summary).length, lines(stdout_summary)[0]], [100, "151"]);
      assert.deepEqual([lines(stderr_summary).length, lines(stderr_summary)[0]], [100, "151"]);
      assert.equal((await sh(bench, "seq 250", { stdout_lines: 2 })).stdout_summary, "249\n250\n");
    },
  },
];

const OUTPUTS: Statement[] = [
  {
    at: "process.run, Outputs",
    says: "a successful run has exactly the fields of the contract",
    holds: async (bench) => {
      const { duration_ms, process_id, resource_usage, ...rest } = await sh(bench, "echo out; echo err >&2");
      assert.deepEqual(rest, { exit_code: 0, stdout_summary: "out\n", stderr_summary: "err\n", state: "completed" });
      assert.ok(Number.isInteger(duration_ms));
      assert.equal(typeof process_id, "string");
      assert.deepEqual(Object.keys(resource_usage), ["cpu_ms", "memory_peak_bytes", "io_read_bytes", "io_write_bytes"]);
    },
  },
  {
    at: "process.run, Outputs: state and Timeout behaviour",
    says: "a timeout is not an error: timed_out, exit_code null, with the output so far",
    holds: async (bench) => {
      const answer = await bench.answerOf("process.run", { command: "echo so far; sleep 60", timeout: 3 });
      assert.equal(answer.isError, false);
      const { state, exit_code, stdout_summary } = answer.structured;
      assert.deepEqual([state, exit_code, stdout_summary], ["timed_out", null, "so far\n"]);
    },
  },
  {
    at: "process.run, Outputs: state",
    says: "a killed process has state killed and exit_code null",
    holds: async (bench) => {
      const running = sh(bench, "echo here; sleep 60");
      await until("the command is running", () => bench.gateway.list({ status: "running" }).length === 1);
      const [session] = bench.gateway.list({ status: "running" });
      await bench.gateway.session(session?.id ?? "").kill();
      const { state, exit_code } = await running;
      assert.deepEqual([state, exit_code], ["killed", null]);
    },
  },
  {
    at: "process.run, Outputs: resource_usage",
    says: "resource usage covers the whole process tree",
    holds: async (bench) => {
      const script = "head -c 50000000 /dev/zero > /dev/null & head -c 50000000 /dev/zero > /dev/null & wait";
      const { resource_usage } = await sh(bench, script);
      assert.ok(resource_usage.io_write_bytes >= 100_000_000, JSON.stringify(resource_usage));
    },
  },
  {
    at: "process.run, Outputs: process_id",
    says: "process_id is present even when nothing was started",
    holds: async (bench) => {
      for (const command of ["true", "no-such-program", "rm -rf /"]) {
        assert.equal(typeof (await run(bench, { command, args: [] })).process_id, "string", command);
      }
    },
  },
  {
    at: "process.run, Side effects",
    says: "a background process outlives the gateway that started it",
    holds: async (bench) => {
      const { process_id } = await sh(bench, "sleep 60", { background: true });
      const other = await bench.fixture.open();
      assert.equal(other.session(process_id).info().status, "running");
      await bench.call("process.kill", { process_id });
    },
  },
];

const ERRORS: Statement[] = [
  {
    at: "process.run, Errors: CommandNotFound",
    says: "the error for a missing command has the recovery actions check_path and use_full_path",
    holds: async (bench) => {
      for (const args of [{ args: [] }, {}]) {
        const { type, actions } = await bench.failure("process.run", { command: "no-such-program", ...args });
        assert.deepEqual([type, ...actions.slice(0, 2)], ["CommandNotFound", "check_path", "use_full_path"]);
      }
    },
  },
  {
    at: "process.run, Errors: ResourceLimitExceeded",
    says: "the error for an exceeded memory limit has the recovery actions increase_limits and optimize",
    holds: async (bench) => {
      const script = "x=y; while :; do x=$x$x; done";
      const { type, actions } = await bench.failure("process.run", { command: script, memory_limit: 64 << 20 });
      assert.deepEqual([type, ...actions.slice(0, 2)], ["ResourceLimitExceeded", "increase_limits", "optimize"]);
    },
  },
  {
    at: "process.run, Errors: SpawnFailed",
    says: "the error for a file that cannot be executed has the recovery actions check_permissions and retry",
    holds: async (bench) => {
      writeFileSync(bench.fixture.path("plain"), "no program\n", { mode: 0o644 });
      const { type, actions } = await bench.failure("process.run", { command: bench.fixture.path("plain"), args: [] });
      assert.deepEqual([type, ...actions.slice(0, 2)], ["SpawnFailed", "check_permissions", "retry"]);
    },
  },
  {
    at: "process.run, Errors",
    says: "a refused command has an error with a recovery action",
    holds: async (bench) => {
      const { type, actions } = await bench.failure("process.run", { command: "rm", args: ["-rf", "/"] });
      assert.equal(type, "CommandBlocked");
      assert.ok(actions.length > 0);
    },
  },
  {
    at: "in addition to the contract",
    says: "summaries of long lines are at most 32 KiB and say how much is omitted",
    holds: async (bench) => {
      const { stdout_summary } = await sh(bench, "head -c 300000 /dev/zero | tr '\\0' x");
      assert.ok(Buffer.byteLength(stdout_summary) <= 32 * 1024);
      assert.match(stdout_summary, /bytes left out; read them with process\.logs process_id=/);
    },
  },
];

conformance("process", "Process Capabilities", [...OVERVIEW, ...INPUTS, ...OUTPUTS, ...ERRORS]);
