/** The text of a result and its structured content report the same notes and warnings, in every toolset. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Connected, McpFixture } from "../../fixtures/mcp.ts";
import { pause, until } from "../../fixtures/until.ts";

const fixture = new McpFixture({
  toolsets: { exec: true },
  permissions: { write: "autonomous", kill: "autonomous" },
  limits: { memoryBytes: 64 << 20 },
});
after(() => fixture.close());

interface Answer {
  text: string;
  structured: Record<string, unknown>;
}

let connecting: Promise<Connected> | null = null;

function connect(): Promise<Connected> {
  connecting ??= (async () => {
    const tools = ["--tools", "runner,process,exec,shell,bash"];
    const connected = await fixture.stdio(tools, { capabilities: { elicitation: {} } });
    connected.client.setRequestHandler("elicitation/create", async () => {
      await pause(400); // An answer within 300 ms is not a person's.
      return { action: "accept", content: { decision: "once" } } as const;
    });
    return connected;
  })();
  return connecting;
}

async function call(name: string, args: Record<string, unknown>): Promise<Answer> {
  const { client } = await connect();
  const { content, structuredContent } = await client.callTool({ name, arguments: args });
  const [block] = content as { text: string }[];
  return { text: block?.text ?? "", structured: structuredContent as Record<string, unknown> };
}

/** Runs a command in the foreground with each toolset. */
const RUN: Record<string, (command: string) => Promise<Answer>> = {
  bash: (command) => call("Bash", { command, description: "Try it" }),
  exec: (command) => call("execute", { command }),
  shell: (command) => call("exec", { command }),
  process: (command) => call("process.run", { command }),
  runner: (command) => call("run", { command, intent: "Try it", shell: true }),
};

/** Starts a command in the background and returns how it ended, with each toolset that can say so. */
const START: Record<string, (command: string) => Promise<Answer>> = {
  bash: async (command) => {
    const { structured } = await call("Bash", { command, description: "Try it", run_in_background: true });
    return ended("BashOutput", { shell_id: structured.shell_id });
  },
  exec: async (command) => {
    const { structured } = await call("execute", { command, background: true });
    return ended("process_poll", { session_id: structured.session_id });
  },
  shell: async (command) => {
    const { structured } = await call("exec", { command, background: true });
    return ended("process", { action: "wait", session_id: structured.session_id });
  },
  process: async (command) => {
    const { structured } = await call("process.run", { command, background: true });
    return ended("process.monitor", { process_id: structured.process_id });
  },
};

async function ended(name: string, args: Record<string, unknown>): Promise<Answer> {
  let last: Answer = { text: "", structured: {} };
  await until("the command has ended", async () => {
    last = await call(name, args);
    return (last.structured.status ?? last.structured.state) !== "running";
  });
  return last;
}

/** Returns the note and the warnings of an answer, after checking that the text contains each of them. */
function remarksOf({ text, structured }: Answer): string {
  const { note, warnings, error } = structured as { note?: string; warnings?: string[]; error?: { message: string } };
  const remarks = [note, ...(warnings ?? []), error?.message].filter((remark) => typeof remark === "string");
  for (const remark of remarks) {
    assert.ok(text.includes(remark) || text.includes(JSON.stringify(remark).slice(1, -1)), `${text}\nlacks ${remark}`);
  }
  return remarks.join("\n");
}

const BACKGROUND: Record<string, RegExp> = {
  bash: /run_in_background: true/,
  exec: /background: true/,
  shell: /background: true/,
  process: /background: true/,
  runner: /run_background/,
};

for (const [toolset, run] of Object.entries(RUN)) {
  test(`${toolset}: the result says that the sandbox denied a write`, async () => {
    const outside = join(fixture.fixture.visible, "outside");
    assert.match(
      remarksOf(await run(`echo x > ${outside}`)),
      /Probably denied by the sandbox: \S+\/outside is outside/,
    );
  });

  test(`${toolset}: the result counts the processes that were terminated at the end`, async () => {
    const remarks = remarksOf(await run("sleep 600 & sleep 600 & echo started"));
    assert.match(remarks, /^2 processes still running when the command exited were terminated/m);
    assert.match(remarks, BACKGROUND[toolset] ?? /never/);
  });

  test(`${toolset}: the result contains the warnings of the sandbox`, async () => {
    const remarks = remarksOf(
      await run(`mkdir -p ${toolset} && cd ${toolset} && git init -q . && git config core.fsmonitor ./x`),
    );
    assert.match(remarks, /sandbox: git runs programs or writes elsewhere/);
  });

  test(`${toolset}: the result names the signal that killed the command`, async () => {
    assert.match(remarksOf(await run("kill -SEGV $$")), /SIGSEGV/);
  });

  test(`${toolset}: a command without output yields a text that says so`, async () => {
    const { text } = await run("true");
    assert.match(text, /^\(no output\)$/m);
  });
}

test("shell: exec and process report the same warnings of a session", async () => {
  const command = "mkdir -p same && cd same && git init -q . && git config core.fsmonitor ./x";
  const { structured } = (await RUN.shell?.(command)) ?? assert.fail();
  const polled = await call("process", { action: "poll", session_id: structured.session_id });
  assert.notDeepEqual(structured.warnings, []);
  assert.deepEqual(polled.structured.warnings, structured.warnings);
});

/** Fields whose value is not in the text of a foreground command: its command, and what the process monitor returns. */
const NOT_IN_TEXT = new Set(["success", "command", "resource_usage", "status"]);

for (const toolset of ["exec", "process", "runner"]) {
  test(`${toolset}: the text is the output, followed by the fields of the structured content`, async () => {
    const { text, structured } = (await RUN[toolset]?.("echo '\"one\"'; echo; echo two; exit 3")) ?? assert.fail();
    assert.match(text, /^"one"\n\ntwo\n\[.*exit_code: 3.*\]$/);
    for (const [name, value] of Object.entries(structured)) {
      if (NOT_IN_TEXT.has(name) || value === null || value === false || value === "") continue;
      if (Array.isArray(value) && value.length === 0) continue;
      const shown = typeof value === "string" && value.includes("\n") ? value : `${name}: ${value}`;
      assert.ok(text.includes(shown), `${text}\nlacks ${shown}`);
    }
  });
}

test("stderr has a heading in the text of toolsets that return it apart from stdout", async () => {
  for (const run of [RUN.process, RUN.runner]) {
    assert.match((await run?.("echo out; echo err >&2"))?.text ?? "", /^out\nstderr:\nerr\n\[/);
    assert.match((await run?.("echo err >&2"))?.text ?? "", /^stderr:\nerr\n\[/);
  }
});

test("process.logs waits for the end of a process and returns its output", async () => {
  const { structured: started } = await call("process.run", { command: "echo a; sleep 0.3; echo b", background: true });
  const { process_id } = started;
  const { text, structured } = await call("process.logs", { process_id, wait: 60 });
  assert.equal(structured.state, "completed");
  assert.equal(text, "a\nb\n[stdout_consumed: 4, stdout_size: 4, state: completed]");
});

const PROMPTS = "while printf '> '; read -r line; do echo \"[$line]\"; done";

for (const [toolset, { start, write, read }] of Object.entries({
  exec: {
    start: () => call("execute_pty", { command: PROMPTS, background: true }),
    write: (id: unknown, line: string) =>
      call("process_manager", { action: "write", session_id: id, data: `${line}\n` }),
    read: (id: unknown) => call("process_poll", { session_id: id }),
  },
  shell: {
    start: () => call("exec", { command: PROMPTS, pty: true, yieldMs: 1000 }),
    write: (id: unknown, line: string) => call("process", { action: "submit", session_id: id, data: line }),
    read: (id: unknown) =>
      call("process", { action: "wait", session_id: id, pattern: "\\[two €\\]", timeoutMs: 60_000 }),
  },
})) {
  test(`${toolset}: the answer to input has the output that follows, which a later read returns too`, async () => {
    const started = await start();
    assert.match(started.text, /^> $/m);
    const { session_id } = started.structured;
    assert.match((await write(session_id, "one")).text, /^one\n\[one\]\n> \n/);
    const { text, structured } = await write(session_id, "two €");
    assert.match(text, /^two €\n\[two €\]\n> \n/);
    assert.equal(structured.output, "two €\n[two €]\n> ");
    assert.match((await read(session_id)).text, /^(?:> )?one\n\[one\]\n> two €\n\[two €\]\n> $/m);
    await call(toolset === "exec" ? "process_manager" : "process", { action: "kill", session_id });
  });
}

const EXCEEDS_MEMORY = `node -e 'const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1));'`;

for (const [toolset, start] of Object.entries(START)) {
  test(`${toolset}: a background command that exceeded its memory limit is reported as such`, async () => {
    assert.match(remarksOf(await start(EXCEEDS_MEMORY)), /exceeded its memory limit of 64 MiB/);
  });
}

test("process.monitor names the error type of a command that exceeded a limit", async () => {
  const { structured } = (await START.process?.(EXCEEDS_MEMORY)) ?? {};
  assert.equal((structured?.error as { type: string } | undefined)?.type, "ResourceLimitExceeded");
});
