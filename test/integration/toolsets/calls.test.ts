import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { TOOLSETS } from "../../../src/core/settings.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import type { CallContext, Tool, ToolAnswer } from "../../../src/toolsets/tool.ts";
import { tools } from "../../../src/toolsets/tools.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { until } from "../../fixtures/until.ts";

const POLICY = { toolsets: { exec: true }, limits: { sessions: 10_000, startsPerMinute: 1_000_000 } };
const fixture = new GatewayFixture();
let gateway: Gateway;
let all: Map<string, Tool>;

function offer(from: Gateway): Map<string, Tool> {
  return new Map(tools(from, TOOLSETS).map((tool) => [tool.name, tool]));
}

before(async () => {
  gateway = await fixture.open({ policy: POLICY });
  all = offer(gateway);
});
after(() => fixture.close());

async function call(name: string, args: unknown, context?: CallContext, from = all): Promise<ToolAnswer> {
  const tool = from.get(name);
  assert.ok(tool, name);
  const answer = await tool.call(args, context);
  assert.deepEqual(tool.output.safeParse(answer.structured).error?.issues ?? [], [], answer.text);
  return answer;
}

function typeOf({ structured }: ToolAnswer): string | undefined {
  return (structured.error as { type: string } | undefined)?.type;
}

/** Tools that run a command, each with the arguments for a command and the result field with the session id. */
const RUNNERS: [name: string, args: (command: string) => object, id: string][] = [
  ["run", (command) => ({ command, intent: "a test", shell: true }), "process_id"],
  ["process.run", (command) => ({ command }), "process_id"],
  ["execute", (command) => ({ command }), "session_id"],
  ["exec", (command) => ({ command }), "session_id"],
  ["Bash", (command) => ({ command, description: "a test" }), "shell_id"],
];

/** Tools that act on a session, each with the arguments that name it. */
const REACHERS: [name: string, args: (id: string) => object][] = [
  ["process.monitor", (process_id) => ({ process_id })],
  ["process.logs", (process_id) => ({ process_id })],
  ["process.kill", (process_id) => ({ process_id })],
  ["process_poll", (session_id) => ({ session_id })],
  ["process_log", (session_id) => ({ session_id })],
  ["process_manager", (session_id) => ({ action: "kill", session_id })],
  ["process", (session_id) => ({ action: "poll", session_id })],
  ["process", (session_id) => ({ action: "remove", session_id })],
  ["BashOutput", (shell_id) => ({ shell_id })],
  ["KillShell", (shell_id) => ({ shell_id })],
];

test("every tool rejects invalid arguments and lists the expected parameters", async () => {
  const strange: unknown[] = ["text", 7, true, [], [{}], { nothing: "known" }, { command: 5 }, { command: null }];
  for (const [name, tool] of all) {
    const wants = (tool.inputSchema.required as string[] | undefined) ?? [];
    for (const args of strange) {
      // A tool without required parameters accepts an empty object.
      const answer = await call(name, args);
      assert.equal(answer.isError, true, `${name} ${JSON.stringify(args)}`);
      assert.equal(typeOf(answer), "InvalidRequest", `${name} ${JSON.stringify(args)}`);
      assert.match(answer.text, new RegExp(`fix_request.*The parameters of ${name.replace(".", "\\.")} are `));
    }
    if (wants.length > 0) assert.equal(typeOf(await call(name, {})), "InvalidRequest", name);
    if (wants.length > 0) assert.equal(typeOf(await call(name, undefined)), "InvalidRequest", name);
  }
});

test("suggests the parameter for a misspelled one", async () => {
  const { text } = await call("Bash", { command: "true", description: "a test", run_in_backgruond: true });
  assert.match(text, /`run_in_backgruond` is not a parameter; did you mean `run_in_background`\?/);
  const resize = await call("process", { action: "resize", session_id: "x", cols: 100, rows: 30 });
  assert.match(resize.text, /did you mean `columns`\?/);
});

test("an optional parameter of null counts as omitted", async () => {
  const { text } = await call("Bash", { command: "echo fine", description: "a test", timeout: null });
  assert.equal(text, "fine\n");
});

test("rejects hostile ids, commands and variable names with a short error", async () => {
  const ids = ["../../etc", "\0", "%", "'; DROP TABLE sessions", "0".repeat(100_000), "\u202e", "_"];
  for (const id of ids) {
    for (const [name, args] of REACHERS) {
      const answer = await call(name, args(id));
      assert.equal(answer.isError, true, `${name} ${id.slice(0, 20)}`);
      assert.ok(answer.text.length < 8 * 1024, name);
    }
  }
  for (const [name, args] of RUNNERS) {
    assert.equal(typeOf(await call(name, args("echo a\0b"))), "InvalidRequest", name);
    assert.equal(typeOf(await call(name, { ...args("true"), env: { "A=B": "c" } }))?.startsWith("Invalid"), true, name);
  }
});

test("truncates long commands, paths and names in results", async () => {
  const long = "x".repeat(500_000);
  for (const [name, args] of RUNNERS) {
    for (const asked of [args(`true ${long}`), args(long), { ...args("true"), cwd: long, env: { [long]: "" } }]) {
      const { text, structured } = await call(name, asked);
      assert.ok(text.length < 32 * 1024 && JSON.stringify(structured).length < 64 * 1024, `${name}: ${text.length}`);
    }
  }
});

test("stops a regular expression that takes too long", async () => {
  const { structured } = await call("exec", { command: "printf '%05000d\\n' 1; cat", background: true, pty: false });
  const session_id = structured.session_id;
  await until(
    "the output is written",
    async () => (await gateway.session(String(session_id)).logs()).text.length > 5000,
  );
  await call("process", { action: "write", session_id, data: `${"0".repeat(5000)}!\n` });
  const answer = await call("process", { action: "wait", session_id, pattern: "^(0+)+$", timeoutMs: 20_000 });
  assert.match(answer.text, /`pattern` takes too long to match .* received "\^\(0\+\)\+\$"/);
  await call("process", { action: "remove", session_id });
});

test("a tool of a disabled toolset does nothing", async () => {
  const other = await fixture.open({ policy: POLICY });
  const [execute] = tools(other, "exec");
  Object.defineProperty(other, "toolsets", { value: { ...other.toolsets, exec: false } });
  const answer = await execute?.call({ command: "touch made" });
  assert.match(answer?.text ?? "", /^The toolset `exec` is disabled\. \[CommandDenied\]/);
});

test("a session started by one toolset can be listed, read and killed by another", async () => {
  for (const [name, args, key] of RUNNERS) {
    const background = name === "Bash" ? { run_in_background: true } : { background: true };
    const command = "echo hello; sleep 60";
    const started =
      name === "run"
        ? await call("run_background", { command, intent: "a test" })
        : await call(name, { ...args(command), ...background });
    const id = String(started.structured[key]);
    await until("the output is written", async () => (await gateway.session(id).logs()).text === "hello\n");
    assert.equal((await call("process.logs", { process_id: id })).structured.stdout, "hello\n", name);
    assert.equal((await call("process_log", { session_id: id })).structured.content, "hello\n", name);
    assert.equal((await call("process", { action: "poll", session_id: id })).structured.output, "hello\n", name);
    assert.equal((await call("BashOutput", { shell_id: id })).structured.output, "hello\n", name);
    const listed = (await call("process.list", {})).structured.processes as { process_id: string }[];
    assert.ok(
      listed.some(({ process_id }) => process_id === id),
      name,
    );
    const { pid } = gateway.session(id).info();
    assert.deepEqual((await call("kill_process", { pid, intent: "it is enough" })).structured, { success: true });
    assert.equal((await call("process.monitor", { process_id: id })).structured.state, "killed", name);
  }
});

test("no tool finds sessions of another agent", async () => {
  const other = await fixture.open({ policy: POLICY, agent: "somebody-else" });
  const session = await other.start({ command: "sleep 60", name: "not-yours" });
  const { pid } = session.info();
  const answersFor = async (id: string) =>
    Promise.all(REACHERS.map(async ([name, args]) => (await call(name, args(id))).text.replaceAll(id, "ID")));
  const unknown = await answersFor("01a1ddf0-65ad-7132-abb8-0c7411973a7d");
  for (const id of [session.id, session.name]) assert.deepEqual(await answersFor(id), unknown, id);
  assert.equal((await call("kill_process", { pid, intent: "not mine" })).structured.success, false);
  assert.ok(!(await call("process", { action: "list" })).text.includes(session.id));
  assert.ok(!(await call("process_list", {})).text.includes(session.id));
  assert.equal(session.info().status, "running");
  await session.kill();
});

test("every toolset returns a running session when the time limit for the response is reached", async () => {
  for (const [name, args, key] of RUNNERS) {
    const go = `go-${name}`;
    const answer = await call(name, args(`echo early; while ! test -e ${go}; do sleep 0.02; done; echo late`), {
      answerWithinMs: 300,
    });
    assert.equal(answer.isError, false, answer.text);
    const id = String(answer.structured[key]);
    const session = gateway.session(id);
    assert.deepEqual([session.info().status, session.info().background], ["running", true], name);
    await gateway.run({ command: `touch ${go}` });
    await session.wait();
    assert.equal((await session.logs()).text, "early\nlate\n", name);
  }
});

test("reports progress while a command runs", async () => {
  const told: { elapsedMs: number; lastLine: string }[] = [];
  const running = call(
    "Bash",
    { command: "printf 'one\\ntwo\\r50%%'; while ! test -e enough; do sleep 0.02; done", description: "a test" },
    { onProgress: (progress) => told.push(progress) },
  );
  await until("progress was reported", () => told.some(({ lastLine }) => lastLine === "50%"), 60_000);
  await gateway.run({ command: "touch enough" });
  await running;
  const count = told.length;
  assert.ok(told.every(({ elapsedMs }) => elapsedMs > 0));
  await gateway.run({ command: "true" });
  assert.equal(told.length, count);
});

test("cancelling a call kills the command and its child processes, in every toolset", async () => {
  for (const [name, args] of RUNNERS) {
    const controller = new AbortController();
    const running = call(name, args("sleep 60 & (setsid sleep 60 &) ; sleep 60"), { signal: controller.signal });
    await until("the command is running", () => fixture.alive().length >= 3);
    controller.abort();
    await running;
    await until(`all processes of ${name} have exited`, () => fixture.alive().length === 0);
  }
});

test("a call that is already cancelled runs nothing", async () => {
  const sessions = gateway.count();
  for (const [name, args] of RUNNERS) {
    const answer = await call(name, args("true"), { signal: AbortSignal.abort() });
    assert.equal(typeOf(answer), "Cancelled", name);
  }
  assert.equal(gateway.count(), sessions);
});

test("cancelling during approval runs nothing", async () => {
  const asked: string[] = [];
  const silent = await fixture.open({
    policy: POLICY,
    approve: async ({ id }) => {
      asked.push(id);
      return null;
    },
  });
  const from = offer(silent);
  const controller = new AbortController();
  const waiting = call("execute", { command: "touch never" }, { signal: controller.signal }, from);
  await until("approval is requested", () => asked.length === 1);
  controller.abort();
  assert.equal(typeOf(await waiting), "Cancelled");
});

test("no result exceeds its size limit", async () => {
  const WRITES = [
    "seq 1000000",
    "head -c 5000000 /dev/urandom",
    "yes '😀' | head -c 3000000",
    "head -c 3000000 /dev/zero",
  ];
  const MOST = 210_000; // In bytes: 200,000 for `aggregated`, and some more for other fields.
  for (const command of WRITES) {
    for (const [name, args] of RUNNERS) {
      const { text, structured } = await call(name, args(command));
      const texts = Object.values(structured).filter((value) => typeof value === "string");
      for (const each of [text, ...texts]) {
        assert.ok(Buffer.byteLength(each) <= MOST, `${name}, ${command}: ${Buffer.byteLength(each)}`);
      }
    }
  }
});

test("rejects a call on a closed gateway", async () => {
  const other = await fixture.open({ policy: POLICY });
  const from = offer(other);
  await other.close();
  for (const [name, args] of RUNNERS)
    await assert.rejects(call(name, args("true"), {}, from), { type: "GatewayClosed" });
});
