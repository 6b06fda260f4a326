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
    "Blocked. No approval lifts this: report it instead of looking for a way round.",
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
    "denied, nothing known",
    info({ status: "denied", exitCode: null }),
    "Denied. Ask the operator to allow it, or reach the goal another way.",
  ],
  [
    "pending",
    info({ status: "pending", exitCode: null }),
    "Waiting for approval; nothing has run yet. A person decides: wait for it, do not submit it again.",
  ],
  [
    "timeout, though a signal ended it and processes were left",
    result({ status: "timed_out", timedOut: true, exitCode: null, signal: "SIGTERM", leftover: 2 }),
    "Timed out after 2.5s and was ended with all it had started; its output so far is kept. Run it again with a longer timeout, or in the background.",
  ],
  [
    "timeout of a session",
    info({ status: "timed_out", timedOut: true, exitCode: null, signal: "SIGKILL" }),
    "Timed out after 1m00s and was ended with all it had started; its output so far is kept. Run it again with a longer timeout, or in the background.",
  ],
  [
    "killed",
    info({ status: "killed", exitCode: null, signal: "SIGTERM" }),
    "Ended on request with SIGTERM; its output so far is kept.",
  ],
  [
    "killed, exiting by itself",
    result({ status: "killed", exitCode: 3 }),
    "Ended on request and exited with code 3; its output so far is kept.",
  ],
  [
    "lost",
    info({ status: "lost", exitCode: null, error: sessionLost() }),
    "The command's keeper was killed, and the command with it. The exit code is unknown. Check the session's logs for the output up to that point.",
  ],
  [
    "limit",
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
        message: "Command not found: gti",
        recovery: [{ action: "did_you_mean", hint: "Did you mean git?" }],
      },
    }),
    "Command not found: gti. Did you mean git?",
  ],
  [
    "crash",
    result({ exitCode: null, signal: "SIGSEGV" }),
    "Ended by SIGSEGV: it used memory it may not use, usually a bug in the program or a stack overflow.",
  ],
  [
    "killed from outside",
    result({ exitCode: null, signal: "SIGKILL" }),
    "Ended by SIGKILL: something other than Sallyport killed it, possibly the kernel for want of memory (it had used up to 1.5G).",
  ],
  ["a signal without a usual cause", result({ exitCode: null, signal: "SIGUSR1" }), "Ended by SIGUSR1."],
  ["exit code", failed(2), "Exit code 2; stderr says why."],
  [
    "exit code, output only",
    result({ exitCode: 1, stdout: "x", output: "x" }),
    "Exit code 1; nothing is on stderr, the output may say why.",
  ],
  ["exit code, silent", result({ exitCode: 1 }), "Exit code 1; it wrote nothing."],
  ["exit code of a session", info({ exitCode: 1, streams: bytes(9) }), "Exit code 1; its log may say why."],
  ["exit code of a silent session", info({ exitCode: 1, streams: bytes(0) }), "Exit code 1; it wrote nothing."],
  ["124", failed(124), "Exit code 124: the command `timeout` ended what it ran; stderr says why."],
  ["126", failed(126), "Exit code 126: the shell found a command but could not execute it; stderr says why."],
  ["127", failed(127), "Exit code 127: the shell did not find a command; stderr says why."],
  [
    "137",
    failed(137),
    "Exit code 137: if from a shell, a command in it was ended by SIGKILL: something other than Sallyport killed it, possibly the kernel for want of memory (it had used up to 1.5G).",
  ],
  ["255", failed(255), "Exit code 255; stderr says why."],
  [
    "leftovers",
    result({ leftover: 1 }),
    "1 process it left running was ended; use the background for what should live on.",
  ],
  [
    "leftovers and a failure",
    result({ exitCode: 1, leftover: 3 }),
    "Exit code 1; it wrote nothing. 3 processes it left running were ended; use the background for what should live on.",
  ],
  [
    "leftovers that live on",
    info({ leftover: 2, lingering: true }),
    "Processes it started live on; kill the session to end them.",
  ],
  ["leftovers of the background that are gone by now", info({ leftover: 2 }), null],
];

/** Only what these two tools call. */
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

/** What the shell toolset says about an outcome, after the output. */
async function messageOf(outcome: RunResult | SessionInfo): Promise<string> {
  const [exec, process] = tools(gatewayWith(outcome), "shell");
  const { output } = outcome as Partial<RunResult>;
  if (output === undefined) {
    return (await process?.call({ action: "extend", session_id: outcome.id, timeout: 1 }))?.text ?? "";
  }
  const answer = await exec?.call({ command: "make" });
  assert.ok(answer);
  assert.ok(answer.text.startsWith(output.trimEnd()));
  return answer.text.slice(output.trimEnd().length).trimStart();
}

function expectedWithoutMessage(outcome: RunResult | SessionInfo): string {
  if ("output" in outcome) return "";
  if (outcome.status === "running") return `Session ${outcome.id} is running (pid 7).`;
  return `Session ${outcome.id} has ended: completed, exit code 0.`;
}

for (const [what, outcome, message] of cases) {
  test(`message: ${what}`, async () => {
    assert.equal(await messageOf(outcome), message ?? expectedWithoutMessage(outcome));
  });
}

test("message: a timeout names the deadline that was given", async () => {
  const [execute] = tools(gatewayWith(result({ status: "timed_out", timedOut: true, exitCode: 0 })), "exec");
  const answer = await execute?.call({ command: "make", timeout: 1.5 });
  assert.match(answer?.text ?? "", /^Timed out after 1\.5s and was ended with all it had started;/m);
});
