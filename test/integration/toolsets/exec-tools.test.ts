import assert from "node:assert/strict";
import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { newId } from "../../../src/core/id.ts";
import { EXEC_LOG_FOLDER } from "../../../src/session/retention.ts";
import { tools } from "../../../src/toolsets/tools.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";
import { type Bench, conformance, property, required, type Statement } from "./conformance.ts";

const POLICY = { toolsets: { exec: true }, limits: { sessions: 10_000, startsPerMinute: 1_000_000 } };
const execute = (bench: Bench, command: string, more: object = {}) => bench.call("execute", { command, ...more });
const NAMES = ["execute", "execute_pty", "process_manager", "process_list", "process_poll", "process_log"];
const READ_ONLY = ["process_list", "process_poll", "process_log"];

const SECRET = [
  "ANTHROPIC_API_KEY",
  "AWS_SECRET_ACCESS_KEY",
  "DATABASE_URL",
  "DB_PASSWORD",
  "GITHUB_TOKEN",
  "LD_PRELOAD",
  "OPENAI_API_KEY",
  "OPENROUTER_API_KEY",
  "PASSWORD",
  "PRIVATE_KEY",
  "PYTHONPATH",
  "SECRET_KEY",
];

const COMPOSITION: Statement[] = [
  {
    at: "Files",
    says: "execute and execute_pty run, process_manager lists, polls, logs, writes, sends keys and kills",
    holds: async (bench) => {
      assert.deepEqual(bench.names(), NAMES);
      assert.deepEqual(property(bench.tool("process_manager"), "action").enum, [
        "list",
        "poll",
        "log",
        "write",
        "send-keys",
        "kill",
      ]);
    },
  },
  {
    at: "Toolset Composition, Docstring enforcement",
    says: "every parameter has a description",
    holds: async (bench) => {
      for (const name of bench.names()) {
        const properties = bench.tool(name).inputSchema.properties as Record<string, { description?: string }>;
        for (const [parameter, { description }] of Object.entries(properties)) {
          assert.ok(description, `${name}.${parameter}`);
        }
      }
    },
  },
  {
    at: "Observability",
    says: "tools carry their category, exec or process",
    holds: async (bench) => {
      const categories = bench.names().map((name) => bench.tool(name).meta?.category);
      assert.deepEqual(categories, ["exec", "exec", "process", "process", "process", "process"]);
    },
  },
  {
    at: "Toolset Composition, Dynamic approval",
    says: "all tools except read-only ones require approval",
    holds: async (bench) => {
      const permissions = bench.names().map((name) => bench.tool(name).permission);
      assert.deepEqual(permissions, ["ask", "ask", "ask", "autonomous", "autonomous", "autonomous"]);
    },
  },
  {
    at: "Safety, Approval flow",
    says: "each mutating call requires approval, read-only calls do not",
    holds: async (bench) => {
      bench.asked.length = 0;
      const { session_id } = await execute(bench, "cat", { background: true });
      assert.equal(bench.asked.length, 1);
      for (const name of READ_ONLY) await bench.call(name, name === "process_list" ? {} : { session_id });
      assert.equal(bench.asked.length, 1);
      await bench.call("process_manager", { action: "write", session_id, data: "x\n" });
      await bench.call("process_manager", { action: "poll", session_id });
      await bench.call("process_manager", { action: "list" });
      await bench.call("process_manager", { action: "kill", session_id });
      assert.equal(bench.asked.length, 5);
    },
  },
  {
    at: "Safety, Approval flow",
    says: "a denied command does not run",
    holds: async (bench) => {
      bench.answer = "deny";
      assert.equal((await bench.failure("execute", { command: "touch denied" })).type, "CommandDenied");
      bench.answer = "once";
      assert.ok(!existsSync(bench.fixture.path("denied")));
    },
  },
  {
    at: "Safety, Approval flow",
    says: "without a decision the result is pending, and the repeated call uses the approval",
    holds: async (bench) => {
      bench.answer = null;
      const { error, ...more } = await bench.call("execute", { command: "echo approved" }, { answerWithinMs: 50 });
      assert.equal(error.type, "ApprovalPending");
      const [asked] = bench.gateway.approvals.list({ status: "pending" });
      assert.ok(asked && !JSON.stringify([error, more]).includes(asked.id));
      bench.gateway.approvals.decide(asked.id, { decision: "once", who: "tester", channel: "library" });
      assert.equal((await execute(bench, "echo approved")).output, "approved\n");
      bench.answer = "once";
    },
  },
];

const EXECUTION: Statement[] = [
  {
    at: "Execution Model, Foreground",
    says: "runs the command and returns its output",
    holds: async (bench) => {
      assert.deepEqual(required(bench.tool("execute")), ["command"]);
      const { session_id, log_path, ...rest } = await execute(bench, "echo out; echo err >&2; exit 3");
      const note = null;
      const result = { exit_code: 3, output: "out\nerr\n", timed_out: false, status: "completed" };
      assert.deepEqual(rest, { ...result, warnings: [], note });
      assert.equal(log_path, bench.fixture.path(EXEC_LOG_FOLDER, `${session_id}.log`));
      assert.equal(readFileSync(log_path, "utf8"), "out\nerr\n");
    },
  },
  {
    at: "Execution Model, Background",
    says: "returns the session id immediately and writes output to its log",
    holds: async (bench) => {
      const { session_id, log_path, exit_code } = await execute(bench, "echo here; cat", { background: true });
      assert.equal(exit_code, null);
      await until("the log is complete", () => readFileSync(log_path, "utf8") === "here\n");
      await bench.call("process_manager", { action: "kill", session_id });
    },
  },
  {
    at: "Safety, Timeout",
    says: "the default timeout is 30 s; the command is killed and its output returned",
    holds: async (bench) => {
      const { session_id } = await execute(bench, "true");
      assert.equal(bench.gateway.session(session_id).info().timeoutMs, 30_000);
      const late = await execute(bench, "echo part; sleep 60", { timeout: 3 });
      assert.deepEqual([late.timed_out, late.exit_code, late.output], [true, null, "part\n"]);
      await until("no process is left", () => bench.fixture.alive().length === 0);
    },
  },
  {
    at: "Background Exit Callback",
    says: "queues one high-priority item with exit code, log path and the last five lines",
    holds: async (bench) => {
      const { session_id, log_path } = await execute(bench, "seq 9; exit 5", { background: true });
      await bench.gateway.session(session_id).wait();
      const items = bench.gateway.work.list().filter(({ payload }) => isFor(payload, session_id));
      assert.deepEqual(
        items.map(({ payload }) => payload),
        [
          {
            type: "EXEC_CALLBACK",
            priority: "HIGH",
            session_id,
            status: "completed",
            exit_code: 5,
            log_path,
            last_lines: ["5", "6", "7", "8", "9"],
          },
        ],
      );
    },
  },
  {
    at: "Background Exit Callback",
    says: "a foreground command queues no item",
    holds: async (bench) => {
      const { session_id } = await execute(bench, "true");
      assert.equal(bench.gateway.work.list().filter(({ payload }) => isFor(payload, session_id)).length, 0);
    },
  },
  {
    at: "PTY Support",
    says: "execute_pty runs in a terminal that accepts write and send-keys",
    holds: async (bench) => {
      const command = "test -t 0 -a -t 1 && echo terminal; read a; read b; echo $a and $b";
      const { session_id } = await bench.call("execute_pty", { command, background: true });
      await bench.call("process_manager", { action: "write", session_id, data: "first\n" });
      await bench.call("process_manager", { action: "send-keys", session_id, keys: ["2", "n", "d", "Enter"] });
      await bench.gateway.session(session_id).wait();
      const { content } = await bench.call("process_log", { session_id });
      assert.match(content, /terminal\n/);
      assert.match(content, /first and 2nd\n$/);
    },
  },
  {
    at: "Safety, Workspace sandbox",
    says: "rejects a working directory outside the workspace, including a sibling with the same prefix",
    holds: async (bench) => {
      for (const cwd of ["/", "..", `${bench.fixture.workspace}-2`]) {
        assert.equal((await bench.failure("execute", { command: "pwd", cwd })).type, "PathOutOfScope", cwd);
      }
    },
  },
  {
    at: "Safety, Process cap",
    says: "the limit of processes is at least 512",
    holds: async (bench) => {
      const { output } = await execute(bench, "ulimit -u");
      assert.ok(output === "unlimited\n" || Number(output) >= 512, output);
    },
  },
  ...SECRET.map(
    (name): Statement => ({
      at: "Safety, Env blocklist",
      says: `${name} is neither inherited nor accepted from the caller`,
      holds: async (bench) => {
        const refused = await bench.failure("execute", { command: "true", env: { [name]: "x" } });
        assert.equal(refused.type, "InvalidRequest");
        const fixture = new GatewayFixture();
        const before = process.env[name];
        process.env[name] = "leaks";
        try {
          const gateway = await fixture.open();
          assert.equal((await gateway.run({ command: `echo "[$${name}]"` })).stdout, "[]\n");
        } finally {
          if (before === undefined) delete process.env[name];
          else process.env[name] = before;
          await fixture.close();
        }
      },
    }),
  ),
  {
    at: "Change Log, streaming line slices",
    says: "process_log returns a slice of lines and their total, for logs of any size",
    holds: async (bench) => {
      const { session_id } = await execute(bench, "seq 2000000", { background: true });
      await bench.gateway.session(session_id).wait();
      const middle = await bench.call("process_log", { session_id, offset: 1_000_000, limit: 2 });
      assert.deepEqual(
        [middle.content, middle.total, middle.next_offset],
        ["1000001\n1000002\n", 2_000_000, 1_000_002],
      );
      assert.equal((await bench.call("process_log", { session_id, offset: -1 })).content, "2000000\n");
      const long = await bench.call("process_log", { session_id, offset: 0, limit: 5000 });
      assert.ok(Buffer.byteLength(long.content) <= 64 * 1024);
      assert.equal(long.content.split("\n").length - 1, long.next_offset);
    },
  },
  {
    at: "Observability",
    says: "process_log returns the log as text and session, path and total as metadata",
    holds: async (bench) => {
      const { session_id, log_path } = await execute(bench, "echo a; echo b");
      const { text, structured } = await bench.answerOf("process_log", { session_id });
      assert.match(text, /^a\nb\n\[lines 1 to 2 of 2\]$/);
      assert.deepEqual(structured, { session_id, log_path, content: "a\nb\n", total: 2, next_offset: 2 });
    },
  },
  {
    at: "process_manager",
    says: "rejects an action without a required argument",
    holds: async (bench) => {
      for (const action of ["poll", "log", "write", "send-keys", "kill"]) {
        assert.equal((await bench.failure("process_manager", { action })).type, "InvalidRequest", action);
      }
      const { session_id } = await execute(bench, "true");
      assert.equal((await bench.failure("process_manager", { action: "write", session_id })).type, "InvalidRequest");
      assert.equal((await bench.failure("process_poll", { session_id: "none" })).type, "SessionNotFound");
    },
  },
];

function isFor(payload: unknown, id: string): boolean {
  return (payload as { session_id: string }).session_id === id;
}

conformance("exec", "Shell Execution Module", [...COMPOSITION, ...EXECUTION], { policy: POLICY });

test("Shell Execution Module, Safety, Feature gate: the toolset is hidden unless ENABLE_EXECUTE or the configuration enables it", async () => {
  const fixture = new GatewayFixture();
  const before = process.env.ENABLE_EXECUTE;
  try {
    for (const [value, count] of [
      [undefined, 0],
      ["false", 0],
      ["0", 0],
      ["true", NAMES.length],
      ["1", NAMES.length],
    ] as const) {
      if (value === undefined) delete process.env.ENABLE_EXECUTE;
      else process.env.ENABLE_EXECUTE = value;
      assert.equal(tools(await fixture.open(), "exec").length, count, value);
    }
    delete process.env.ENABLE_EXECUTE;
    assert.equal(tools(await fixture.open({ policy: { toolsets: { exec: true } } }), "exec").length, NAMES.length);
  } finally {
    if (before === undefined) delete process.env.ENABLE_EXECUTE;
    else process.env.ENABLE_EXECUTE = before;
    await fixture.close();
  }
});

test("Shell Execution Module, Safety, Log cleanup: only old logs of ended sessions are removed at the start", async () => {
  const fixture = new GatewayFixture();
  try {
    const gateway = await fixture.open({ policy: POLICY });
    const [execute] = tools(gateway, "exec");
    const answer = await execute?.call({ command: "true" });
    const kept = String(answer?.structured.log_path);
    const old = fixture.path(EXEC_LOG_FOLDER, `${newId()}.log`);
    const foreign = fixture.path(EXEC_LOG_FOLDER, "notes.log");
    for (const file of [old, foreign]) {
      writeFileSync(file, "old");
      utimesSync(file, new Date(0), new Date(0));
    }
    await fixture.open();
    assert.deepEqual([existsSync(kept), existsSync(old), existsSync(foreign)], [true, false, true]);
  } finally {
    await fixture.close();
  }
});
