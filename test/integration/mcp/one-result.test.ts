/** The text of a result and its structured content report the same notes and warnings, in every toolset. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Connected, McpFixture } from "../../fixtures/mcp.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new McpFixture({ toolsets: { exec: true }, limits: { memoryBytes: 64 << 20 } });
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
    assert.match(text, /^\(no output\)|"stdout(_summary)?":""/);
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
