import assert from "node:assert/strict";
import { until } from "../../fixtures/until.ts";
import { conformance, property, required, type Statement } from "./conformance.ts";
import { intent, NEVER, run, shell } from "./runner.ts";

const WHOLE: Statement[] = [
  {
    at: "Capabilities",
    says: "the tools are run, run_background, kill_process and is_blocked",
    holds: async (bench) => assert.deepEqual(bench.names(), ["run", "run_background", "kill_process", "is_blocked"]),
  },
  {
    at: "Capabilities, Intent required",
    says: "run, run_background and kill_process require an intent, is_blocked does not",
    holds: async (bench) => {
      const wanting = bench.names().filter((name) => required(bench.tool(name)).includes("intent"));
      assert.deepEqual(wanting, ["run", "run_background", "kill_process"]);
      for (const bad of [undefined, "", "  "]) {
        assert.equal((await bench.failure("run", { command: "true", intent: bad })).type, "InvalidRequest");
      }
    },
  },
  {
    at: "Core Behaviors, Always",
    says: "every execution is audited, with its intent and a time",
    holds: async (bench) => {
      await run(bench, "true", { intent: "to be found in the audit" });
      const entry = bench.gateway.audit.tail(20).findLast(({ kind }) => kind === "run");
      assert.equal((entry?.detail as { intent: string } | undefined)?.intent, "to be found in the audit");
      assert.ok(Date.parse(entry?.at ?? "") > 0);
    },
  },
  {
    at: "Core Behaviors, Always",
    says: "stdout and stderr are captured separately",
    holds: async (bench) => {
      const { stdout, stderr } = await shell(bench, "echo out; echo err >&2");
      assert.deepEqual([stdout, stderr], ["out\n", "err\n"]);
    },
  },
  {
    at: "Role and parallel_safe",
    says: "commands can run concurrently",
    holds: async (bench) => {
      // Each command waits until all have started, so that none ends if they run one after another.
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          shell(bench, `touch at-once-${n}; until [ $(ls at-once-* | wc -l) -eq 10 ]; do sleep 0.02; done; echo ${n}`),
        ),
      );
      assert.deepEqual(
        results.map(({ stdout }) => stdout),
        Array.from({ length: 10 }, (_, n) => `${n}\n`),
      );
    },
  },
  ...NEVER.map(
    (command): Statement => ({
      at: "Blocked Commands",
      says: `${command} is blocked, and nothing runs`,
      holds: async (bench) => {
        const result = await shell(bench, command);
        assert.deepEqual(
          [result.blocked, result.success, result.exit_code, result.duration_ms, result.stdout],
          [true, false, -1, 0, ""],
        );
        assert.ok(result.block_reason.length > 0);
        assert.equal(result.stderr, result.block_reason);
      },
    }),
  ),
  {
    at: "Constraints",
    says: "a block cannot be overridden, and no approval is requested",
    holds: async (bench) => {
      const before = bench.asked.length;
      await shell(bench, "rm -rf /");
      assert.equal(bench.asked.length, before);
    },
  },
  {
    at: "Checkpoints",
    says: "each command of a chain is checked",
    holds: async (bench) => assert.equal((await shell(bench, "true && echo x | cat; reboot")).blocked, true),
  },
];

const RUN: Statement[] = [
  {
    at: "run, Inputs",
    says: "command is required; timeout, cwd, env and shell are not",
    holds: async (bench) => {
      const tool = bench.tool("run");
      assert.deepEqual(required(tool), ["command", "intent"]);
      for (const name of ["timeout", "cwd", "env", "shell"]) property(tool, name);
      assert.equal(property(tool, "shell").default, false);
    },
  },
  {
    at: "run, Inputs: timeout, and Constraints",
    says: "the default is 60 s, and more than 3600 s is rejected",
    holds: async (bench) => {
      const { maximum } = property(bench.tool("run"), "timeout");
      assert.equal(maximum, 3600);
      await run(bench, "true");
      assert.equal(bench.gateway.list({ limit: 1 })[0]?.timeoutMs, 60_000);
      await run(bench, "true", { timeout: 3600 });
      assert.equal(bench.gateway.list({ limit: 1 })[0]?.timeoutMs, 3_600_000);
      assert.equal((await bench.failure("run", { command: "true", intent, timeout: 3601 })).type, "InvalidRequest");
      assert.equal((await bench.failure("run", { command: "true", intent, timeout: 0 })).type, "InvalidRequest");
    },
  },
  {
    at: "run, Inputs: cwd",
    says: "the command runs in cwd",
    holds: async (bench) => {
      await shell(bench, "mkdir -p sub");
      assert.equal((await run(bench, "pwd", { cwd: "sub" })).stdout, `${bench.fixture.path("sub")}\n`);
    },
  },
  {
    at: "run, Inputs: env",
    says: "variables are added to the current ones",
    holds: async (bench) => {
      const { stdout } = await shell(bench, 'echo "$MINE"; test -n "$PATH" && echo path', { env: { MINE: "yes" } });
      assert.equal(stdout, "yes\npath\n");
    },
  },
  {
    at: "run, Inputs: shell",
    says: "without shell the command is split as by shlex, and a pipe character is an argument",
    holds: async (bench) => {
      assert.equal((await run(bench, 'echo \'a b\' "c\\"d" e\\ f | cat *')).stdout, 'a b c"d e f | cat *\n');
    },
  },
  {
    at: "run, Inputs: shell",
    says: "with shell the command can be a pipeline",
    holds: async (bench) => assert.equal((await shell(bench, "echo abc | tr a-c x")).stdout, "xxx\n"),
  },
  {
    at: "run, Outputs",
    says: "a successful run has exactly the fields of the contract",
    holds: async (bench) => {
      const { duration_ms, ...rest } = await run(bench, "echo hi");
      assert.ok(Number.isInteger(duration_ms));
      assert.deepEqual(rest, {
        success: true,
        command: "echo hi",
        exit_code: 0,
        stdout: "hi\n",
        stderr: "",
        timed_out: false,
        blocked: false,
        block_reason: null,
      });
    },
  },
  {
    at: "run, Outputs: success and exit_code",
    says: "success means exit code 0, and other codes are returned unchanged",
    holds: async (bench) => {
      for (const code of [1, 2, 77, 255]) {
        const { success, exit_code } = await shell(bench, `exit ${code}`);
        assert.deepEqual([success, exit_code], [false, code]);
      }
    },
  },
  {
    at: "run, Outputs: timed_out",
    says: "at the timeout exit_code is -1 and the output is kept",
    holds: async (bench) => {
      const result = await shell(bench, "echo begun; echo bad >&2; sleep 60", { timeout: 3 });
      assert.deepEqual(
        [result.timed_out, result.exit_code, result.success, result.stdout, result.stderr],
        [true, -1, false, "begun\n", "bad\n"],
      );
    },
  },
  {
    at: "run, Post-execution",
    says: "a command that timed out leaves no process, not even a zombie",
    holds: async (bench) => {
      await shell(bench, "sleep 61 & (setsid sleep 62 &) ; sleep 63", { timeout: 1 });
      await until("all processes have exited", () => bench.fixture.alive().length === 0);
    },
  },
  {
    at: "run, Implementation",
    says: "a command that cannot be started has exit_code -1 and the reason in stderr",
    holds: async (bench) => {
      const missing = await run(bench, "no-such-program-here");
      assert.deepEqual([missing.exit_code, missing.success, missing.blocked], [-1, false, false]);
      assert.match(missing.stderr, /not found/);
      const open = await run(bench, "echo 'open");
      assert.equal(open.exit_code, -1);
      assert.match(open.stderr, /quote/);
    },
  },
  {
    at: "run, Implementation",
    says: "after signal n the exit code is -n",
    holds: async (bench) => assert.equal((await shell(bench, "kill -USR1 $$")).exit_code, -10),
  },
  {
    at: "run, Implementation",
    says: "replaces invalid UTF-8",
    holds: async (bench) =>
      assert.equal(
        (await shell(bench, "printf 'one odd byte \\377 in a text\\n'")).stdout,
        "one odd byte \ufffd in a text\n",
      ),
  },
  {
    at: "Error Handling, Command not found",
    says: "the error for a missing command says how to check for it",
    holds: async (bench) => {
      const { type, actions } = await bench.failure("run", { command: "no-such-program-here", intent });
      assert.equal(type, "CommandNotFound");
      assert.ok(actions.includes("check_path"));
    },
  },
  {
    at: "Error Handling, Command blocked",
    says: "the error for a blocked command names an alternative and no workaround",
    holds: async (bench) => {
      const { type, actions } = await bench.failure("run", { command: "rm -rf /", intent });
      assert.deepEqual([type, actions], ["CommandBlocked", ["use_alternative", "report"]]);
    },
  },
  {
    at: "Error Handling, Timeout expired",
    says: "the message about a timeout suggests a longer timeout",
    holds: async (bench) => {
      const { stdout, note, timed_out } = await shell(bench, "echo part; sleep 60", { timeout: 2 });
      assert.deepEqual([stdout, timed_out], ["part\n", true]);
      assert.match(note, /longer timeout/);
    },
  },
  {
    at: "in addition to the contract",
    says: "long streams are limited to 32 KiB each and say how much is omitted",
    holds: async (bench) => {
      const { stdout, stderr } = await shell(bench, "seq 100000; seq 100000 >&2");
      for (const text of [stdout, stderr]) {
        assert.ok(Buffer.byteLength(text) <= 32 * 1024);
        assert.match(text, /^1\n2\n/);
        assert.match(text, /\n100000\n$/);
        assert.match(text, /\n\[… \d[\d,]* bytes left out; read them with/);
      }
    },
  },
];

conformance("runner", "process-runner", [...WHOLE, ...RUN]);
