import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunResult } from "../../../src/core/result.ts";
import type { SessionInfo } from "../../../src/core/session.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { sessionLost } from "../../../src/session/errors.ts";
import { tools } from "../../../src/toolsets/tools.ts";

const usage = { cpuMs: 1, memoryPeakBytes: 1536 << 20, ioReadBytes: 0, ioWriteBytes: 0 };

function result(changes: Partial<RunResult>): RunResult {
  return {
    id: "01980000-0000-7000-8000-000000000000",
    name: "calm-otter",
    status: "completed",
    exitCode: 0,
    signal: null,
    stdout: "",
    stderr: "",
    output: "",
    durationMs: 2504,
    timedOut: false,
    truncated: { stdout: 0, stderr: 0 },
    leftover: 0,
    resourceUsage: usage,
    verdict: null,
    approvalId: null,
    sandbox: "off",
    warnings: [],
    hints: [],
    error: null,
    ...changes,
  };
}

function info(changes: Partial<SessionInfo>): SessionInfo {
  return {
    id: "01980000-0000-7000-8000-000000000000",
    name: "calm-otter",
    agent: "default",
    host: null,
    gateway: null,
    status: "completed",
    command: "make",
    args: null,
    cwd: "/w",
    envNames: [],
    background: true,
    capture: "apart",
    pty: null,
    intent: null,
    logFile: null,
    pid: 7,
    exitCode: 0,
    signal: null,
    coreDumped: false,
    startedAt: "2026-01-01T00:00:00.000Z",
    endedAt: null,
    durationMs: 61_000,
    timeoutMs: 60_000,
    timedOut: false,
    leftover: 0,
    lingering: false,
    limits: null,
    resourceUsage: null,
    streams: {},
    sandbox: "off",
    warnings: [],
    hints: [],
    error: null,
    ...changes,
  };
}

const bytes = (count: number) => ({ stdout: { bytes: count, droppedStart: 0, droppedEnd: 0, lost: 0 } });
const failed = (code: number) =>
  result({ exitCode: code, stderr: "make: *** no rule\n", output: "make: *** no rule\n" });

const cases: [what: string, outcome: RunResult | SessionInfo, message: string | null][] = [
  ["success", result({}), null],
  ["running", info({ status: "running", exitCode: null }), null],
  [
    "blocked",
    info({ status: "blocked", exitCode: null }),
    "Blocked by a rule that cannot be overridden. Report this, and do not rephrase the command.",
  ],
  [
    "denied by a person",
    info({
      status: "denied",
      exitCode: null,
      error: {
        type: "PermissionDenied",
        message: "Denied by root: not on a Friday",
        recovery: [{ action: "report", hint: "Report this to the user." }],
      },
    }),
    "Denied by root: not on a Friday. Report this to the user.",
  ],
  [
    "denied without a reason",
    info({ status: "denied", exitCode: null }),
    "Denied. Ask the operator to allow the command, or use another approach.",
  ],
  ["pending", info({ status: "pending", exitCode: null }), "Waiting for a person's approval. Nothing has run yet."],
  [
    "timeout, which takes precedence over the signal and leftover processes",
    result({ status: "timed_out", timedOut: true, exitCode: null, signal: "SIGTERM", leftover: 2 }),
    "Timed out after 30m00s. The command and its child processes were killed; the output so far is kept. If it needs longer, run it again with a longer timeout, or with background: true.",
  ],
  [
    "timeout of a session",
    info({ status: "timed_out", timedOut: true, exitCode: null, signal: "SIGKILL" }),
    "Timed out after 1m00s. The command and its child processes were killed; the output so far is kept. If it needs longer, run it again with a longer timeout, or with background: true.",
  ],
  [
    "killed",
    info({ status: "killed", exitCode: null, signal: "SIGTERM" }),
    "Terminated on request with SIGTERM. The output so far is kept.",
  ],
  [
    "killed with an exit code",
    result({ status: "killed", exitCode: 3 }),
    "Terminated on request, exit code 3. The output so far is kept.",
  ],
  [
    "lost",
    info({ status: "lost", exitCode: null, error: sessionLost() }),
    "The command ended because its keeper was killed or the machine went down. The exit code is unknown. Read the output up to that point with process action=log.",
  ],
  [
    "resource limit",
    info({
      status: "failed",
      exitCode: null,
      signal: "SIGKILL",
      error: {
        type: "ResourceLimitExceeded",
        message: "It used more than 512M of memory",
        recovery: [{ action: "increase_limits", hint: "Raise `memory_limit`" }],
      },
    }),
    "It used more than 512M of memory. Raise `memory_limit`.",
  ],
  [
    "failed start",
    info({
      status: "failed",
      exitCode: null,
      error: {
        type: "CommandNotFound",
        message: "Command not found: gti.",
        recovery: [{ action: "did_you_mean", hint: "Did you mean git?" }],
      },
    }),
    "Command not found: gti. Did you mean git?",
  ],
  [
    "crash",
    result({ exitCode: null, signal: "SIGSEGV" }),
    "Killed by SIGSEGV (invalid memory access, usually a bug in the program or a stack overflow).",
  ],
  [
    "SIGKILL that Sallyport did not send",
    result({ exitCode: null, signal: "SIGKILL" }),
    "Killed by SIGKILL (not sent by Sallyport; peak memory use 1.5G).",
  ],
  ["a signal without a usual cause", result({ exitCode: null, signal: "SIGUSR1" }), "Killed by SIGUSR1."],
  ["exit code", failed(2), "Exit code 2."],
  ["exit code, output only", result({ exitCode: 1, stdout: "x", output: "x" }), "Exit code 1."],
  ["exit code without output", result({ exitCode: 1 }), "Exit code 1. It wrote no output."],
  ["exit code of a session", info({ exitCode: 1, streams: bytes(9) }), "Exit code 1."],
  [
    "exit code of a session without output",
    info({ exitCode: 1, streams: bytes(0) }),
    "Exit code 1. It wrote no output.",
  ],
  ["exit code 124", failed(124), "Exit code 124: `timeout` stopped its command."],
  ["exit code 126", failed(126), "Exit code 126: a command was found but could not be executed."],
  ["exit code 127", failed(127), "Exit code 127: a command was not found."],
  [
    "exit code 137",
    failed(137),
    "Exit code 137: a process was probably killed by SIGKILL (not sent by Sallyport; peak memory use 1.5G).",
  ],
  ["exit code 255", failed(255), "Exit code 255."],
  [
    "leftover processes",
    result({ leftover: 1 }),
    "1 process still running when the command exited was terminated; to keep a process running, start it with background: true.",
  ],
  [
    "leftover processes and a failure",
    result({ exitCode: 1, leftover: 3 }),
    "Exit code 1. It wrote no output. 3 processes still running when the command exited were terminated; to keep a process running, start it with background: true.",
  ],
  [
    "leftover processes still running",
    info({ leftover: 2, lingering: true }),
    "Processes it started are still running; stop them with process action=kill.",
  ],
  ["leftover processes of a background session that have exited", info({ leftover: 2 }), null],
];

/** Returns a gateway with only the methods that these tools call. */
function gatewayWith(outcome: RunResult | SessionInfo): Gateway {
  const gateway = {
    toolsets: { shell: true, exec: true },
    timeouts: {},
    scoped: () => gateway,
    run: async () => outcome,
    find: async () => ({ id: outcome.id, info: () => outcome, extend: async () => {} }),
    session: () => ({ info: () => info({}) }),
  };
  return gateway as unknown as Gateway;
}

/** Returns the message of the shell toolset about an outcome, without the output. */
async function messageOf(outcome: RunResult | SessionInfo): Promise<string> {
  const [exec, process] = tools(gatewayWith(outcome), "shell");
  const { output } = outcome as Partial<RunResult>;
  if (output === undefined) {
    const answer = await process?.call({ action: "extend", session_id: outcome.id, timeout: 1 });
    return answer?.text.replace(/\nIts deadline is 1 s from now\.$/, "") ?? "";
  }
  const answer = await exec?.call({ command: "make" });
  assert.ok(answer);
  assert.ok(answer.text.startsWith(output.trimEnd()));
  return answer.text.slice(output.trimEnd().length).trimStart();
}

function expectedWithoutMessage(outcome: RunResult | SessionInfo): string {
  if ("output" in outcome) return "(no output)";
  if (outcome.status === "running") return `Session ${outcome.id} is running (pid 7).`;
  return `Session ${outcome.id} has ended (exit code 0).`;
}

for (const [what, outcome, message] of cases) {
  test(`outcome message: ${what}`, async () => {
    assert.equal(await messageOf(outcome), message ?? expectedWithoutMessage(outcome));
  });
}

test("outcome message: a timeout names the requested deadline", async () => {
  const [execute] = tools(gatewayWith(result({ status: "timed_out", timedOut: true, exitCode: 0 })), "exec");
  const answer = await execute?.call({ command: "make", timeout: 1.5 });
  assert.match(answer?.text ?? "", /^Timed out after 1\.5s\. The command and its child processes were killed;/m);
});
