import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import type { ToolsetName } from "../../../src/toolsets/tool.ts";
import { Bench, type Result } from "./conformance.ts";

/** A blocked command. It changes nothing on a machine without SELinux. */
const BLOCKED = "touch ran && setenforce 0";

function bench(toolset: ToolsetName, policy: object = {}): Bench {
  const opened = new Bench();
  const limits = { sessions: 10_000, startsPerMinute: 1_000_000 };
  before(() => opened.open(toolset, { policy: { sandbox: "off", toolsets: { exec: true }, limits, ...policy } }));
  after(() => opened.fixture.close());
  return opened;
}

const shell = bench("shell");
const exec = bench("exec");
const processes = bench("process");

async function act(on: Bench, session_id: string, action: string, more: object): Promise<Result> {
  return on.call("process", { action, session_id, ...more });
}

function isBlocked({ error }: Result, on: Bench): void {
  assert.equal(error?.type, "CommandBlocked", JSON.stringify(error));
  assert.ok(!existsSync(on.fixture.path("ran")));
}

test("the process tool checks what is written to a shell on pipes", async () => {
  const { session_id } = await shell.call("exec", { command: "bash", background: true, pty: false });
  isBlocked(await act(shell, session_id, "write", { data: `${BLOCKED}\n` }), shell);
  isBlocked(await act(shell, session_id, "submit", { data: BLOCKED }), shell);
  assert.equal((await act(shell, session_id, "write", { data: BLOCKED })).error, undefined);
  isBlocked(await act(shell, session_id, "write", { data: "", eof: true }), shell);
  await act(shell, session_id, "kill", {});
});

test("the process tool checks what is submitted, pasted and typed on a terminal", async () => {
  const { session_id } = await shell.call("exec", { command: "bash --norc", background: true, pty: true });
  await act(shell, session_id, "wait", { input: true });
  isBlocked(await act(shell, session_id, "submit", { data: BLOCKED }), shell);
  isBlocked(await act(shell, session_id, "paste", { data: `${BLOCKED}\n` }), shell);
  await act(shell, session_id, "paste", { data: BLOCKED });
  isBlocked(await act(shell, session_id, "send-keys", { keys: ["Enter"] }), shell);
  await act(shell, session_id, "kill", {});
});

test("process_manager checks what is written to an interpreter", async () => {
  const { session_id } = await exec.call("execute", { command: "sh -s", background: true });
  const write = (data: string) => exec.call("process_manager", { action: "write", session_id, data });
  isBlocked(await write(`${BLOCKED}\n`), exec);
  assert.equal((await write("seten")).error, undefined);
  isBlocked(await write("force 0\n"), exec);
  await exec.call("process_manager", { action: "kill", session_id });
});

test("process.run checks the text for standard input", async () => {
  isBlocked(await processes.call("process.run", { command: "sh", args: ["-s"], stdin: `${BLOCKED}\n` }), processes);
  isBlocked(await processes.call("process.run", { command: "sqlite3", stdin: ".shell setenforce 0\n" }), processes);
  const { error } = await processes.call("process.run", { command: "bash", stdin: "sudo id\n" });
  assert.equal(error?.type, "CommandDenied");
  const allowed = await processes.call("process.run", { command: "sh", args: ["-s"], stdin: "echo $((6 * 7))\n" });
  assert.equal(allowed.stdout_summary.trim(), "42");
});
