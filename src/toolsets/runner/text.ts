import { constants } from "node:os";
import type { Verdict } from "../../core/policy.ts";
import type { RunResult } from "../../core/result.ts";
import { truncateFailure } from "../failures.ts";
import { forModel as failureForModel } from "../next-steps.ts";
import { outcomeMessage } from "../outcome-message.ts";
import { repeatedCommand } from "../result-text.ts";
import type { Vocabulary } from "../vocabulary.ts";
import { MAX_TIMEOUT } from "./schema.ts";

export const RUNNER_WORDS: Vocabulary = {
  background: "run_background",
  timeout: `a longer timeout (at most ${MAX_TIMEOUT} s)`,
  stop: "kill_process",
  list: null,
  status: null,
  output: null,
  remove: null,
  stdin: null,
  terminal: null,
  shell: "shell: true",
  parameters: { cwd: "cwd", env: "env", logFile: "log_file", timeoutMs: "timeout" },
};

const NO_CODE = -1;

/** Returns `exit_code` as Python's subprocess reports it: -n for signal n. It is -1 when there is no exit code. */
function exitCodeOf({ status, exitCode, signal }: RunResult): number {
  if (status === "timed_out" || status === "lost" || status === "running") return NO_CODE;
  if (exitCode !== null) return exitCode;
  return signal === null ? NO_CODE : -(constants.signals[signal] ?? -NO_CODE);
}

/** Returns the complete result of `run`, whether or not the command started. */
export function runnerResult(
  command: string,
  result: RunResult,
  { stdout, stderr }: { stdout: string; stderr: string },
  timeoutMs: number,
): Record<string, unknown> {
  const { status } = result;
  const error = result.error && truncateFailure(failureForModel(result.error, RUNNER_WORDS));
  const refused = status === "blocked" || status === "denied";
  const notRun = refused || status === "pending" || status === "failed";
  const exitCode = exitCodeOf(result);
  const note = outcomeMessage(result, RUNNER_WORDS, timeoutMs);
  return {
    success: status === "completed" && exitCode === 0,
    command: repeatedCommand(command),
    exit_code: exitCode,
    stdout,
    stderr: notRun ? (error?.message ?? "") : stderr,
    duration_ms: Math.round(result.durationMs),
    timed_out: result.timedOut,
    blocked: refused,
    block_reason: refused ? (error?.message ?? "The command is not allowed.") : null,
    ...(result.warnings.length > 0 ? { warnings: result.warnings } : {}),
    ...(note === null || notRun ? {} : { note }),
  };
}

export function stillRunning(pid: number | null, durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1000);
  return `Still running after ${seconds}s. Call run again with the same arguments to wait for it and get its result; it continues until its timeout. Stop it with kill_process pid=${pid}.`;
}

/** Returns the note of a result that belongs to an earlier call. */
export function joinedNote(startedAt: string, note: unknown): string {
  const joined = `This is the result of the command that an identical call started at ${startedAt}. Call run again to run it once more.`;
  return typeof note === "string" ? `${note} ${joined}` : joined;
}

/** Returns the first reason why a command is blocked or denied, or null when it is neither. */
export function blockReason({ verdict, reasons: [first] }: Verdict): string | null {
  if (verdict !== "blocked" && verdict !== "deny") return null;
  return first ? `${first.message.replace(/\.$/, "")} (${first.rule}).` : "The command is not allowed.";
}

export const NO_CLOSING_QUOTE = {
  type: "InvalidRequest",
  message: "`command` has an unclosed quote or ends with a backslash.",
  recovery: [
    {
      action: "fix_request",
      hint: "Close the quote. With shell: false, the command is split by the rules of POSIX shlex.",
    },
    { action: "use_shell", hint: "Set shell: true if the command uses shell syntax." },
  ],
};

export const NO_COMMAND = {
  type: "InvalidRequest",
  message: "`command` is blank.",
  recovery: [{ action: "fix_request", hint: "Pass the program to run." }],
};

export function unknownPid(pid: number) {
  return {
    type: "ProcessNotFound",
    message: `The process with pid ${pid} was not started by these tools.`,
    recovery: [
      {
        action: "check_pid",
        hint: "Pass the pid that run_background returned. Other processes cannot be killed with this tool.",
      },
    ],
  };
}
