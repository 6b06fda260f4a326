/** Calls that the client does not wait for: the result stays within reach of the same toolset, over stdio. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { type Connected, McpFixture } from "../../fixtures/mcp.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new McpFixture();
after(() => fixture.close());

// biome-ignore lint/suspicious/noExplicitAny: the fields of a result depend on its tool
type Result = Record<string, any>;

async function call({ client }: Connected, name: string, args: object): Promise<Result> {
  const { content } = await client.callTool({ name, arguments: args as Record<string, unknown> }, { timeout: 600_000 });
  const [first] = content as { text: string }[];
  return JSON.parse(first?.text ?? "") as Result;
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
  assert.doesNotMatch(again.note, /identical call/);
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
