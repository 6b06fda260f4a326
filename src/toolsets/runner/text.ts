import { constants } from "node:os";
import { RUNNER_STREAM_BYTES } from "../../core/output-limits.ts";
import type { Verdict } from "../../core/policy.ts";
import type { RunResult } from "../../core/result.ts";
import { forModel } from "../../text/model-output.ts";
import { truncateFailure } from "../failures.ts";
import { outcomeMessage } from "../outcome-message.ts";
import { repeatedCommand } from "../result-text.ts";

const NO_CODE = -1;

/** `exit_code`: -1 where there is none to tell, else as Python's subprocess gives it: -n for signal n. */
function exitCodeOf({ status, exitCode, signal }: RunResult): number {
  if (status === "timed_out" || status === "lost" || status === "running") return NO_CODE;
  if (exitCode !== null) return exitCode;
  return signal === null ? NO_CODE : -(constants.signals[signal] ?? -NO_CODE);
}

function stream(text: string, omittedBytes: number, id: string): string {
  const hint = `a narrower command (head, tail, grep), or in the log of session ${id}`;
  return forModel(text, { maxBytes: RUNNER_STREAM_BYTES, omittedBytes, hint }).text;
}

/** Everything `run` promises about a command, whatever became of it. */
export function runnerResult(command: string, result: RunResult): Record<string, unknown> {
  const { id, status, stdout, stderr, truncated } = result;
  const error = result.error && truncateFailure(result.error);
  const refused = status === "blocked" || status === "denied";
  const notRun = refused || status === "pending" || status === "failed";
  const exitCode = exitCodeOf(result);
  const note = outcomeMessage(result);
  return {
    success: status === "completed" && exitCode === 0,
    command: repeatedCommand(command),
    exit_code: exitCode,
    stdout: stream(stdout, truncated.stdout, id),
    stderr: notRun ? (error?.message ?? "") : stream(stderr, truncated.stderr, id),
    duration_ms: Math.round(result.durationMs),
    timed_out: result.timedOut,
    blocked: refused,
    block_reason: refused ? (error?.message ?? "It is not allowed here.") : null,
    ...(note === null || notRun ? {} : { note }),
  };
}

export function stillRunning(pid: number | null, durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1000);
  return `Still running after ${seconds}s: it carries on in the background until its timeout. End it with kill_process pid=${pid}.`;
}

/** The first reason of what is forbidden; null: it is not. */
export function blockReason({ verdict, reasons: [first] }: Verdict): string | null {
  if (verdict !== "blocked" && verdict !== "deny") return null;
  return first ? `${first.message} (${first.rule})` : "It is not allowed here.";
}

export const NO_CLOSING_QUOTE = {
  type: "InvalidRequest",
  message: "`command`: a quote is not closed, or it ends in a backslash.",
  recovery: [
    { action: "fix_request", hint: "Close the quote; with shell: false the words are split as by POSIX shlex." },
    { action: "use_shell", hint: "Or set shell: true for a command that is meant for the shell." },
  ],
};

export const NO_COMMAND = {
  type: "InvalidRequest",
  message: "`command` holds no word.",
  recovery: [{ action: "fix_request", hint: "Name the program to run." }],
};

export function unknownPid(pid: number) {
  return {
    type: "ProcessNotFound",
    message: `No process with pid ${pid} was started here.`,
    recovery: [
      {
        action: "check_pid",
        hint: "Give the pid that run_background returned; others are not touched, whoever owns them.",
      },
    ],
  };
}
