import assert from "node:assert/strict";
import { until } from "../../fixtures/until.ts";
import { type Bench, conformance, property, type Statement } from "./conformance.ts";

async function start(bench: Bench, command: string, more: object = {}): Promise<string> {
  return (await bench.call("exec", { command, background: true, ...more })).session_id;
}

const act = (bench: Bench, session_id: string, action: string, more: object = {}) =>
  bench.call("process", { action, session_id, ...more });

/** A command that prints each line it reads in brackets. */
const ECHO = 'while read -r line; do echo "[$line]"; done; echo end';

const ACTIONS: Statement[] = [
  {
    at: "process",
    says: "all actions are available",
    holds: async (bench) =>
      assert.deepEqual(property(bench.tool("process"), "action").enum, [
        "list",
        "poll",
        "log",
        "write",
        "send-keys",
        "submit",
        "paste",
        "screen",
        "wait",
        "extend",
        "resize",
        "kill",
        "clear",
        "remove",
      ]),
  },
  {
    at: "process, list",
    says: "lists this agent's sessions with their last line, newest first, and the total",
    holds: async (bench) => {
      const id = await start(bench, "echo one; echo two");
      await bench.gateway.session(id).wait();
      const { sessions, total } = await bench.call("process", { action: "list", limit: 1 });
      assert.deepEqual([sessions.length, sessions[0].session_id, sessions[0].tail], [1, id, "two"]);
      assert.ok(total >= 1);
    },
  },
  {
    at: "process, poll",
    says: "returns the output since the last poll, and the state",
    holds: async (bench) => {
      const id = await start(bench, ECHO, { pty: false });
      await act(bench, id, "write", { data: "a\n" });
      await act(bench, id, "wait", { pattern: "\\[a\\]" });
      assert.equal((await act(bench, id, "poll")).output, "");
      await act(bench, id, "write", { data: "b\n", eof: true });
      await bench.gateway.session(id).wait();
      const { output, status, exit_code } = await act(bench, id, "poll");
      assert.deepEqual([output, status, exit_code], ["[b]\nend\n", "completed", 0]);
    },
  },
  {
    at: "process, log",
    says: "returns the last lines or a slice from an offset, and the total",
    holds: async (bench) => {
      const id = await start(bench, "seq 1000");
      await bench.gateway.session(id).wait();
      const last = await act(bench, id, "log", { limit: 2 });
      assert.deepEqual([last.output, last.total, last.next_offset], ["999\n1000\n", 1000, 1000]);
      const slice = await act(bench, id, "log", { offset: 10, limit: 2 });
      assert.deepEqual([slice.output, slice.next_offset], ["11\n12\n", 12]);
    },
  },
  {
    at: "process, write",
    says: "text reaches stdin unchanged; without background or a terminal stdin is closed",
    holds: async (bench) => {
      const closed = await bench.call("exec", { command: "while ! test -e stop; do sleep 0.02; done", yieldMs: 50 });
      const { error } = await act(bench, closed.session_id, "write", { data: "x" });
      assert.equal(error.type, "StdinClosed");
      await bench.call("exec", { command: "touch stop" });
      await bench.gateway.session(closed.session_id).wait();
    },
  },
  {
    at: "process, submit",
    says: "sends text and Enter, on a pipe and on a terminal",
    holds: async (bench) => {
      for (const pty of [false, true]) {
        const id = await start(bench, ECHO, { pty });
        await act(bench, id, "submit", { data: "typed" });
        const { reason, match } = await act(bench, id, "wait", { pattern: "\\[typed\\]" });
        assert.deepEqual([reason, match], ["pattern", "[typed]"]);
        await act(bench, id, "kill");
      }
    },
  },
  {
    at: "process, send-keys",
    says: "named keys reach a terminal and are rejected on a pipe",
    holds: async (bench) => {
      const id = await start(bench, ECHO, { pty: true });
      await act(bench, id, "send-keys", { keys: ["o", "k", "Enter"] });
      assert.equal((await act(bench, id, "wait", { pattern: "\\[ok\\]" })).reason, "pattern");
      await act(bench, id, "send-keys", { keys: ["C-d"] });
      assert.equal((await act(bench, id, "wait")).reason, "exit");
      const piped = await start(bench, "cat", { pty: false });
      assert.ok((await act(bench, piped, "send-keys", { keys: ["C-c"] })).error);
      await act(bench, piped, "kill");
    },
  },
  {
    at: "process, paste",
    says: "sends several lines at once",
    holds: async (bench) => {
      const id = await start(bench, ECHO, { pty: true });
      await act(bench, id, "paste", { data: "one\ntwo\n" });
      assert.equal((await act(bench, id, "wait", { pattern: "\\[two\\]" })).reason, "pattern");
      await act(bench, id, "kill");
    },
  },
  {
    at: "process, screen",
    says: "returns the visible text and the cursor",
    holds: async (bench) => {
      const id = await start(bench, "printf '\\033[2J\\033[3;5Hhere'; read x", { pty: true });
      await act(bench, id, "wait", { input: true });
      const { text, structured } = await bench.answerOf("process", { action: "screen", session_id: id });
      const { screen } = structured as { screen: { lines: string[]; columns: number; rows: number; cursor: object } };
      assert.deepEqual([screen.columns, screen.rows, screen.lines[2]], [120, 30, "    here"]);
      assert.deepEqual(screen.cursor, { column: 8, row: 2, visible: true });
      assert.match(text, / {4}here\n\[120 x 30, cursor at row 3, column 9\]$/);
      await act(bench, id, "kill");
    },
  },
  {
    at: "process, wait",
    says: "waits for silence, input or a timeout, but never longer than the caller waits",
    holds: async (bench) => {
      const id = await start(bench, "echo ready; read x", { pty: true });
      assert.equal((await act(bench, id, "wait", { input: true })).reason, "input");
      assert.equal((await act(bench, id, "wait", { quietMs: 50 })).reason, "quiet");
      assert.equal((await act(bench, id, "wait", { timeoutMs: 50 })).reason, "timeout");
      const answer = await bench.call("process", { action: "wait", session_id: id }, { answerWithinMs: 50 });
      assert.equal(answer.reason, "timeout");
      await act(bench, id, "kill");
      const bad = await act(bench, id, "wait", { pattern: "(" });
      assert.match(
        bad.error.message,
        /^`pattern` is not a valid regular expression \(unterminated group\); received "\("/,
      );
    },
  },
  {
    at: "process, extend",
    says: "sets the deadline relative to now, and 0 removes it",
    holds: async (bench) => {
      const id = await start(bench, "sleep 60", { timeout: 3600 });
      await act(bench, id, "extend", { timeout: 1 });
      const { status, timed_out } = await act(bench, id, "wait");
      assert.deepEqual([status, timed_out], ["timed_out", true]);
    },
  },
  {
    at: "process, resize",
    says: "the terminal has the new size",
    holds: async (bench) => {
      const id = await start(bench, "read x; stty size", { pty: true });
      await act(bench, id, "resize", { columns: 80, rows: 24 });
      await act(bench, id, "submit");
      assert.equal((await act(bench, id, "wait", { pattern: "24 80" })).match, "24 80");
      await bench.gateway.session(id).wait();
    },
  },
  {
    at: "process, kill",
    says: "kills the session and its child processes, and reports a session that has already ended",
    holds: async (bench) => {
      const id = await start(bench, "sleep 60 & (setsid sleep 60 &); wait");
      await until("all processes are running", () => bench.gateway.session(id).usage().processes.length >= 3);
      assert.deepEqual([(await act(bench, id, "kill")).killed, (await act(bench, id, "kill")).killed], [true, false]);
      await until("no process is left", () => bench.fixture.alive().length === 0);
    },
  },
  {
    at: "process, clear and remove",
    says: "clear rejects a running session, remove terminates it first",
    holds: async (bench) => {
      const id = await start(bench, "sleep 60");
      assert.equal((await act(bench, id, "clear")).error.type, "StillRunning");
      assert.equal((await act(bench, id, "remove")).removed, true);
      await until("no process is left", () => bench.fixture.alive().length === 0);
      assert.equal((await act(bench, id, "poll")).error.type, "SessionNotFound");
    },
  },
  {
    at: "process",
    says: "rejects an action without a required argument",
    holds: async (bench) => {
      const id = await start(bench, "true");
      for (const action of ["write", "send-keys", "paste", "extend", "resize"]) {
        assert.equal((await act(bench, id, action)).error.type, "InvalidRequest", action);
      }
      assert.equal((await bench.failure("process", { action: "poll" })).type, "InvalidRequest");
      await bench.gateway.session(id).wait();
    },
  },
];

conformance("shell", "Intelligent Bash Tool Execution", ACTIONS);
