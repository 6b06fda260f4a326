import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { until } from "../../fixtures/until.ts";
import { type Bench, conformance, property, required, type Statement } from "./conformance.ts";

const description = "Check what the document says";
const bash = (bench: Bench, command: string, more: object = {}) =>
  bench.text("Bash", { command, description, ...more });
const facts = (bench: Bench, command: string, more: object = {}) =>
  bench.call("Bash", { command, description, ...more });

async function start(bench: Bench, command: string): Promise<string> {
  return (await facts(bench, command, { run_in_background: true })).shell_id;
}

async function done(bench: Bench, command: string): Promise<string> {
  const id = await start(bench, command);
  await bench.gateway.session(id).wait();
  return id;
}

const SCHEMA: Statement[] = [
  {
    at: "Schema",
    says: "command and description are required, timeout and run_in_background are not",
    holds: async (bench) => {
      const tool = bench.tool("Bash");
      assert.deepEqual(required(tool), ["command", "description"]);
      assert.deepEqual(Object.keys(tool.inputSchema.properties as object), [
        "command",
        "description",
        "timeout",
        "run_in_background",
      ]);
      assert.equal(property(tool, "run_in_background").default, false);
    },
  },
  {
    at: "Schema, description",
    says: "the description is recorded",
    holds: async (bench) => {
      const { shell_id } = await facts(bench, "true");
      assert.equal(bench.gateway.session(shell_id).info().intent, description);
    },
  },
  {
    at: "Schema, timeout",
    says: "the default is 120 s, and values above 600 s are limited to 600 s",
    holds: async (bench) => {
      const deadline = async (more: object) =>
        bench.gateway.session((await facts(bench, "true", more)).shell_id).info().timeoutMs;
      assert.deepEqual(
        [await deadline({}), await deadline({ timeout: 600 }), await deadline({ timeout: 9999 })],
        [120_000, 600_000, 600_000],
      );
    },
  },
  {
    at: "Schema, timeout",
    says: "the timeout is ignored in the background",
    holds: async (bench) => {
      const { shell_id } = await facts(bench, "sleep 60", { run_in_background: true, timeout: 1 });
      assert.equal(bench.gateway.session(shell_id).info().timeoutMs, 0);
      await bench.call("KillShell", { shell_id });
    },
  },
];

const FOREGROUND: Statement[] = [
  {
    at: "Foreground mode",
    says: "the command is bash text",
    holds: async (bench) => assert.equal(await bash(bench, "x=(a b); [[ -n $BASH ]] && echo $((1 + 1))"), "2\n"),
  },
  {
    at: "Foreground mode",
    says: "the command runs in the workspace root",
    holds: async (bench) => {
      mkdirSync(bench.fixture.path("below"));
      await bash(bench, "cd below");
      assert.equal(await bash(bench, "pwd"), `${bench.fixture.workspace}\n`);
    },
  },
  {
    at: "Foreground mode",
    says: "stdin is closed",
    holds: async (bench) => assert.equal(await bash(bench, "cat; read x || echo end"), "end\n"),
  },
  {
    at: "Foreground mode",
    says: "the environment is the server's, without secrets",
    holds: async (bench) => assert.equal(await bash(bench, 'echo "$SALLYPORT_TEST_MARK"'), `${bench.fixture.mark}\n`),
  },
  {
    at: "Foreground mode",
    says: "stdout and stderr are merged in the order they were written",
    holds: async (bench) => {
      const script = "for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done";
      assert.equal(await bash(bench, script), [1, 2, 3, 4, 5].map((n) => `out${n}\nerr${n}\n`).join(""));
    },
  },
  {
    at: "Foreground mode",
    says: "the text of a successful command is its output, or a note that it wrote no output",
    holds: async (bench) => {
      assert.equal(await bash(bench, "echo hello"), "hello\n");
      assert.equal(await bash(bench, "true"), "(no output)");
    },
  },
  {
    at: "Foreground mode",
    says: "output is limited to 100 KiB and says how much is omitted and how to read it",
    holds: async (bench) => {
      const text = await bash(bench, "seq 100000; exit 2");
      assert.ok(Buffer.byteLength(text) <= 100 * 1024 + "\nexit: 2".length);
      assert.match(text, /^1\n2\n/);
      assert.match(text, /\n\[… [\d,]+ bytes left out; read them with BashOutput shell_id=/);
      assert.match(text, /\n100000\nexit: 2$/);
    },
  },
  {
    at: "Foreground mode",
    says: "the text of a failed command ends with a line with its exit code",
    holds: async (bench) => {
      assert.equal(await bash(bench, "echo a; exit 3"), "a\nexit: 3");
      assert.equal(await bash(bench, "printf a; exit 255"), "a\nexit: 255");
      assert.equal(await bash(bench, "false"), "exit: 1");
    },
  },
  {
    at: "Foreground mode and Output example",
    says: "a timeout is reported with exit 124",
    holds: async (bench) => {
      const script = "echo some stdout; echo some stderr >&2; sleep 60";
      assert.equal(
        await bash(bench, script, { timeout: 3 }),
        "some stdout\nsome stderr\nbash: timed out after 3s\nexit: 124",
      );
    },
  },
  {
    at: "Foreground mode",
    says: "all processes are killed at the timeout, even when they ignore SIGTERM",
    holds: async (bench) => {
      await bash(bench, "trap '' TERM; sleep 60 & (setsid sleep 60 &); while :; do sleep 1; done", { timeout: 1 });
      await until("no process is left", () => bench.fixture.alive().length === 0);
    },
  },
  {
    at: "Foreground mode",
    says: "background processes of a foreground command do not survive it",
    holds: async (bench) => {
      assert.match(
        await bash(bench, "sleep 60 & echo left"),
        /^left\nbash: 1 process still running .* was terminated;/,
      );
      await until("no process is left", () => bench.fixture.alive().length === 0);
    },
  },
];

const BACKGROUND: Statement[] = [
  {
    at: "Background mode",
    says: "returns immediately with a new UUID and the command",
    holds: async (bench) => {
      const text = await bash(bench, "sleep 60", { run_in_background: true });
      const [, id] = /^shell_id: ([0-9a-f-]{36})\nstarted in background: sleep 60$/.exec(text) ?? [];
      assert.ok(id, text);
      await bench.call("KillShell", { shell_id: id });
    },
  },
  {
    at: "Background mode",
    says: "the denylist is checked first",
    holds: async (bench) => {
      const failed = await bench.failure("Bash", { command: "sudo id", description, run_in_background: true });
      assert.equal(failed.type, "CommandDenied");
    },
  },
  {
    at: "Background mode",
    says: "kills all descendants",
    holds: async (bench) => {
      const shell_id = await start(bench, "sleep 60 & (setsid sleep 60 &); wait");
      await until("all processes are running", () => bench.gateway.session(shell_id).usage().processes.length >= 3);
      const { killed, status } = await bench.call("KillShell", { shell_id });
      assert.deepEqual([killed, status], [true, "killed"]);
      await until("all processes have exited", () => bench.fixture.alive().length === 0);
    },
  },
  {
    at: "Background mode, BashOutput",
    says: "returns the output since the last read, and the status",
    holds: async (bench) => {
      const shell_id = await start(bench, "echo one; while ! test -e go; do sleep 0.02; done; echo two; exit 7");
      const read = () => bench.text("BashOutput", { shell_id });
      await until("the first line is written", async () => (await bench.gateway.session(shell_id).logs()).text !== "");
      assert.equal(await read(), "one\nstatus: running");
      assert.equal(await read(), "status: running");
      await bash(bench, "touch go");
      await bench.gateway.session(shell_id).wait();
      assert.equal(await read(), "two\nstatus: completed\nexit: 7");
      assert.equal(await read(), "status: completed\nexit: 7");
    },
  },
  {
    at: "Background mode, BashOutput",
    says: "a filter returns matching lines and marks the others as read",
    holds: async (bench) => {
      const shell_id = await done(bench, "seq 20");
      const filtered = await bench.call("BashOutput", { shell_id, filter: "^1\\d$" });
      assert.equal(filtered.output, "10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n");
      assert.equal((await bench.call("BashOutput", { shell_id })).output, "");
      for (const filter of ["(", "^(\\d+)+x$"]) {
        const id = await done(bench, "printf '%05000d' 1");
        assert.equal((await bench.failure("BashOutput", { shell_id: id, filter })).type, "InvalidRequest", filter);
      }
    },
  },
  {
    at: "Background mode, capped buffers",
    says: "output beyond one result is returned by the next calls",
    holds: async (bench) => {
      const shell_id = await done(bench, "seq 400000");
      let text = "";
      for (let more = true; more; ) {
        const { output, unread_bytes } = await bench.call("BashOutput", { shell_id });
        assert.ok(Buffer.byteLength(output) <= 100 * 1024);
        text += output;
        more = unread_bytes > 0;
      }
      assert.equal(text, Array.from({ length: 400_000 }, (_, n) => `${n + 1}\n`).join(""));
    },
  },
  {
    at: "Background mode, KillShell",
    says: "reports a shell that has already ended",
    holds: async (bench) => {
      const shell_id = await done(bench, "true");
      assert.equal((await bench.call("KillShell", { shell_id })).killed, false);
    },
  },
  ...["BashOutput", "KillShell"].map(
    (name): Statement => ({
      at: `Related, ${name}`,
      says: "rejects an unknown shell and another agent's shell with use_shell_id",
      holds: async (bench) => {
        const other = await bench.fixture.open({ agent: "somebody-else" });
        const theirs = await other.start({ command: "sleep 60", name: "theirs" });
        for (const shell_id of ["nothing", theirs.id, theirs.name, theirs.id.slice(0, -2)]) {
          const expected = { type: "SessionNotFound", actions: ["use_shell_id"] };
          assert.deepEqual(await bench.failure(name, { shell_id }), expected, shell_id);
        }
        await theirs.kill();
        await theirs.remove();
      },
    }),
  ),
];

const DENIED = [
  "sudo id",
  "su -c id",
  "shutdown",
  "reboot",
  "halt",
  "poweroff",
  "chroot /tmp",
  "mount /dev/sdb /mnt",
  "umount /mnt",
  "mkfs /dev/sdb",
  "mkfs.ext4 /dev/sdb",
];

const DENYLIST: Statement[] = [
  ...DENIED.flatMap((command): Statement[] =>
    ["", "true; ", "true & ", "true | ", "("].map((lead) => ({
      at: "Denylist",
      says: `${lead}${command} does not run`,
      holds: async (bench) => {
        const text = `${lead}${command}${lead === "(" ? ")" : ""}`;
        const { type } = await bench.failure("Bash", { command: text, description });
        assert.ok(type === "CommandBlocked" || type === "CommandDenied", type);
      },
    })),
  ),
  {
    at: "Denylist, Limits",
    says: "command names in quoted text are allowed",
    holds: async (bench) => assert.equal(await bash(bench, `echo "don't sudo" reboot`), "don't sudo reboot\n"),
  },
  {
    at: "Denylist, Limits",
    says: "quoted and computed commands are checked, too",
    holds: async (bench) => {
      for (const command of ['bash -c "sudo id"', "echo c3VkbyBpZA== | base64 -d | sh", "X=sudo; $X id"]) {
        bench.answer = "deny";
        const { type } = await bench.failure("Bash", { command, description });
        bench.answer = "once";
        assert.equal(type, "CommandDenied", command);
      }
    },
  },
];

conformance("bash", "Bash", [...SCHEMA, ...FOREGROUND, ...BACKGROUND, ...DENYLIST]);
