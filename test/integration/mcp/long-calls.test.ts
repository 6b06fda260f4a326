/** Calls that the client does not wait for: the result stays within reach of the same toolset, over stdio. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { type Connected, McpFixture } from "../../fixtures/mcp.ts";
import { until } from "../../fixtures/until.ts";

// `exec` requires approval for each command, unless configured otherwise.
const fixture = new McpFixture({ toolsets: { exec: true }, permissions: { run: "autonomous" } });
after(() => fixture.close());

// biome-ignore lint/suspicious/noExplicitAny: the fields of a result depend on its tool
type Result = Record<string, any>;

async function textOf({ client }: Connected, name: string, args: object): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args as Record<string, unknown> }, { timeout: 600_000 });
  const [first] = content as { text: string }[];
  return first?.text ?? "";
}

async function call({ client }: Connected, name: string, args: object): Promise<Result> {
  const request = { name, arguments: args as Record<string, unknown> };
  const { structuredContent } = await client.callTool(request, { timeout: 600_000 });
  return structuredContent as Result;
}

const run = (connected: Connected, command: string, more: object = {}) =>
  call(connected, "run", { command, intent: "to try it", shell: true, ...more });

/** Connects a client whose calls return before a command that waits for a file has ended. */
const impatient = (...more: string[]) => fixture.stdio(["--tools", "runner", "--answer-within", "300ms", ...more]);
const patient = (...more: string[]) => fixture.stdio(["--tools", "runner", ...more]);

/** A command that counts its runs and ends when the file `name` exists. */
const waiting = (name: string) =>
  `echo run >> ${name}.runs; echo begun; until [ -e ${name} ]; do sleep 0.05; done; echo done; echo problem >&2; exit 3`;

const release = (name: string) => fixture.run("run", "--", "touch", name);
const runs = (name: string) => readFileSync(fixture.fixture.path(`${name}.runs`), "utf8").split("\n").length - 1;

test("the same call of run joins the command that outlasted it and gets its result, once", async () => {
  const client = await impatient();
  const first = await run(client, waiting("one"));
  assert.equal(first.exit_code, -1);
  assert.match(first.note, /Still running.*Call run again with the same arguments/);
  const second = await run(client, waiting("one"), { intent: "worded differently" });
  assert.equal(second.process_id, first.process_id);
  assert.match(second.note, /Still running/);
  await release("one");
  const waiter = await patient();
  const { exit_code, stdout, stderr, success, timed_out, note } = await run(waiter, waiting("one"));
  assert.deepEqual({ exit_code, success, timed_out }, { exit_code: 3, success: false, timed_out: false });
  assert.deepEqual({ stdout, stderr }, { stdout: "begun\ndone\n", stderr: "problem\n" });
  assert.match(note, /an identical call started at/);
  assert.equal(runs("one"), 1);
  const again = await run(waiter, waiting("one"));
  assert.equal(again.exit_code, 3);
  assert.equal(again.note, undefined);
  assert.equal(runs("one"), 2);
  await Promise.all([client.close(), waiter.close()]);
});

test("the result of a command that has ended in the meantime is returned too, also by another server", async () => {
  const client = await impatient();
  const { process_id: id } = await run(client, waiting("two"));
  await client.close();
  await release("two");
  await fixture.run("wait", id).catch(() => {}); // exits with the code of the command
  const other = await impatient();
  assert.equal((await run(other, waiting("two"))).exit_code, 3);
  assert.equal(runs("two"), 1);
  await other.close();
});

test("timed_out reaches a caller that does not wait as long as the timeout", async () => {
  const client = await impatient();
  const command = "echo begun; sleep 600";
  let result = await run(client, command, { timeout: 2 });
  assert.equal(result.timed_out, false);
  await until("the command has timed out", async () => {
    result = await run(client, command, { timeout: 2 });
    return result.process_id === undefined;
  });
  assert.equal(result.timed_out, true, JSON.stringify(result));
  assert.equal(result.exit_code, -1);
  assert.equal(result.stdout, "begun\n");
  await client.close();
});

test("a call with other arguments, of another agent, or after kill_process does not join", async () => {
  const client = await impatient();
  const first = await run(client, waiting("three"));
  const env = await run(client, waiting("three"), { env: { OTHER: "1" } });
  assert.notEqual(env.process_id, first.process_id);
  const stranger = await impatient("--agent", "stranger");
  assert.notEqual((await run(stranger, waiting("three"))).process_id, first.process_id);
  const killed = await call(client, "kill_process", { pid: first.pid, intent: "no longer needed" });
  assert.equal(killed.success, true);
  assert.notEqual((await run(client, waiting("three"))).process_id, first.process_id);
  await release("three");
  await Promise.all([client.close(), stranger.close()]);
});

test("identical calls at the same time each run their command", async () => {
  const client = await patient();
  const both = Promise.all([run(client, waiting("four")), run(client, waiting("four"))]);
  await until("both commands run", () => {
    try {
      return runs("four") === 2;
    } catch {
      return false;
    }
  });
  await release("four");
  assert.deepEqual(
    (await both).map(({ exit_code }) => exit_code),
    [3, 3],
  );
  await client.close();
});

test("identical calls at the same time that were all outlasted each get a result of their own", async () => {
  const client = await impatient();
  const both = () => Promise.all([run(client, waiting("six")), run(client, waiting("six"))]);
  const ids = (results: Result[]) => results.map(({ process_id }) => process_id).toSorted();
  const started = ids(await both());
  assert.equal(new Set(started).size, 2);
  assert.deepEqual(ids(await both()), started, "repeating both calls waits for both commands");
  await client.close();
  const other = await patient();
  const ending = Promise.all([run(other, waiting("six")), run(other, waiting("six"))]);
  await release("six");
  for (const { exit_code, note } of await ending) {
    assert.equal(exit_code, 3);
    assert.match(note, /an identical call started at/);
  }
  assert.equal(runs("six"), 2);
  assert.equal((await run(other, waiting("six"))).note, undefined);
  await other.close();
});

/** How the other toolsets run a command, name it in a result that came too early, and wait for it. */
const OTHERS: Record<
  string,
  { call: [string, object]; id: RegExp; hint: RegExp; result: (id: string) => [string, object][] }
> = {
  bash: {
    call: ["Bash", { description: "to try it" }],
    id: /shell_id: (\S+)/,
    hint: /BashOutput/,
    result: (shell_id) => [["BashOutput", { shell_id, wait: 600 }]],
  },
  exec: {
    call: ["execute", { timeout: 600 }],
    id: /session_id: ([^,]+),/,
    hint: /process_poll and process_log/,
    result: (session_id) => [["process_poll", { session_id, wait: 600 }]],
  },
  process: {
    call: ["process.run", {}],
    id: /process_id: ([^,]+),/,
    hint: /process\.monitor and process\.logs/,
    result: (process_id) => [
      ["process.monitor", { process_id, wait: 600 }],
      ["process.logs", { process_id }],
    ],
  },
  shell: {
    call: ["exec", { yieldMs: 600_000 }],
    id: /session_id ([^,]+),/,
    hint: /process \(wait, poll/,
    result: (session_id) => [["process", { action: "wait", session_id, timeoutMs: 600_000 }]],
  },
};

for (const [toolset, { call: asked, id, hint, result }] of Object.entries(OTHERS)) {
  test(`${toolset}: the result of a command that outlasted its call is within reach, also of another server`, async () => {
    const args = ["--tools", toolset];
    const client = await fixture.stdio([...args, "--answer-within", "300ms"]);
    const [name, more] = asked;
    const early = await Promise.all([1, 2].map(() => textOf(client, name, { ...more, command: waiting(toolset) })));
    for (const text of early) assert.match(text, hint);
    const ids = early.map((text) => id.exec(text)?.[1] ?? "");
    assert.equal(new Set(ids).size, 2, "identical calls at the same time run their own commands");
    await client.close();
    const other = await fixture.stdio(args);
    const reading = ids.map(async (each) => {
      const texts: string[] = [];
      for (const [tool, how] of result(each)) texts.push(await textOf(other, tool, how));
      return texts.join("\n");
    });
    await release(toolset);
    for (const text of await Promise.all(reading)) {
      assert.match(text, /begun/);
      assert.match(text, /done/);
      assert.match(text, /problem/);
      assert.match(text, /exit(?:_code)?: 3|[Ee]xit code 3/);
    }
    assert.equal(runs(toolset), 2);
    await other.close();
  });
}

test("a joined call reports progress", async () => {
  const client = await impatient();
  await run(client, waiting("five"));
  const waiter = await patient();
  const messages: string[] = [];
  const args = { command: waiting("five"), intent: "to try it", shell: true };
  const calling = waiter.client.callTool(
    { name: "run", arguments: args },
    { timeout: 600_000, onprogress: ({ message }) => messages.push(message ?? "") },
  );
  await until("progress is reported", () => messages.some((message) => message.includes("begun")));
  await release("five");
  await calling;
  await Promise.all([client.close(), waiter.close()]);
});

test("invalid arguments of runner yield the same form of result as a blocked command", async () => {
  const client = await patient();
  for (const [name, valid, invalid] of [
    ["run", { command: "reboot", intent: "x" }, { command: "reboot" }],
    ["run_background", { command: "reboot", intent: "x" }, { command: "reboot", intent: "x", cwd: 5 }],
    ["kill_process", { pid: 1, intent: "x" }, { pid: "one", intent: "x" }],
  ] as const) {
    const refused = await call(client, name, valid);
    const rejected = await call(client, name, invalid);
    const missing = Object.keys(refused).filter((key) => !(key in rejected) && !/^(process_id|block)/.test(key));
    assert.deepEqual(missing, [], name);
    assert.equal(rejected.success, false);
    assert.equal(rejected.error.type, "InvalidRequest");
  }
  const checked = await call(client, "is_blocked", { command: "reboot", intent: "to see" });
  assert.equal(checked.blocked, true);
  assert.match(await textOf(client, "is_blocked", {}), /^`command` is required/);
  await client.close();
});

test("a refused kill_process is in the audit log with its intent", async () => {
  const client = await patient();
  const refused = await call(client, "kill_process", { pid: 1, intent: "to end init" });
  assert.equal(refused.success, false);
  await client.close();
  const entries = await fixture.run("audit", "search", "pid 1", "--json");
  assert.match(entries, /"outcome":\s*"refused"/);
  assert.match(entries, /to end init/);
});

test("the command is repeated with a mark where it was shortened", async () => {
  const client = await patient();
  const { command } = await run(client, `: ${"x".repeat(10_000)}`);
  assert.match(command, /\[… [\d,]+ bytes left out\]/);
  await client.close();
});
