import { constants } from "node:os";
import type { Verdict } from "../../core/policy.ts";
import type { RunResult } from "../../core/result.ts";
import { truncateMiddle } from "../../text/truncate.ts";
import { truncateFailure } from "../failures.ts";
import { forModel as failureForModel } from "../next-steps.ts";
import { outcomeNote, remarksOnly } from "../outcome-message.ts";
import {
  fieldsLine,
  joinLines,
  type ResultRemarks,
  remarkLines,
  repeatedCommand,
  streamsText,
} from "../result-text.ts";
import { toolName } from "../tool-names.ts";
import type { Vocabulary } from "../vocabulary.ts";
import { MAX_TIMEOUT } from "./schema.ts";

export const RUNNER_WORDS: Vocabulary = {
  get background() {
    return toolName("run_background");
  },
  timeout: `a longer timeout (at most ${MAX_TIMEOUT} s)`,
  get stop() {
    return toolName("kill_process");
  },
  session: "process",
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
  const note = error ? remarksOnly(result, RUNNER_WORDS) : outcomeNote(result, RUNNER_WORDS, timeoutMs);
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

/** Matches an argument that a shell would interpret: an operator, or a word with a pattern or a variable. */
const SHELL_SYNTAX = /^(?:\|\|?|&&?|;|\d*(?:>>?|<).*)$|[*?$`]/;

/** Adds a hint to the result of a program that failed and complained about an argument meant for a shell. */
export function withShellHint(result: RunResult, args: readonly string[]): RunResult {
  if (result.status !== "completed" || result.exitCode === 0) return result;
  const word = args.find((each) => SHELL_SYNTAX.test(each) && result.output.includes(each));
  if (word === undefined) return result;
  const shown = truncateMiddle(word, { maxBytes: MOST_SHOWN }).text;
  const hint = `Without shell: true, \`${shown}\` is passed to the program as an argument.`;
  return { ...result, hints: [...result.hints, { action: "use_shell", hint }] };
}

const MOST_SHOWN = 100;

/** Returns the text of a result of `run`. A command that did not start has no output, and its stderr is the error. */
export function runText(structured: Record<string, unknown>): string {
  const { stdout, stderr, exit_code, duration_ms, timed_out, blocked, pid } = structured;
  // A command that is still running has no exit code yet.
  const code = pid === undefined ? { exit_code } : {};
  const facts = fieldsLine({ ...code, duration_ms, timed_out, blocked, pid });
  const notRun = structured.error !== undefined && stderr === (structured.error as { message: string }).message;
  const output = notRun ? null : streamsText(String(stdout), String(stderr));
  return joinLines([output, facts, ...remarkLines(structured as ResultRemarks)]);
}

/** Returns the text of a result that consists of a few fields. */
export function factsText({ command: _, error, warnings, ...fields }: Record<string, unknown>): string {
  const { success, blocked } = fields;
  // The error says the rest: nothing was started, and the reason is its message.
  const facts = error === undefined ? shown(fields) : { ...shown({ success }), blocked };
  return joinLines([fieldsLine(facts), ...remarkLines({ error, warnings } as ResultRemarks)]);
}

/** Also shows fields that are false: they are the answer of `is_blocked` and `kill_process`. */
function shown(facts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, value === false ? "false" : value]));
}

export function stillRunning(pid: number | null, durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1000);
  return `Still running after ${seconds}s. Call ${toolName("run")} again with the same arguments to wait for it and get its result; it continues until its timeout. Stop it with ${toolName("kill_process")} pid=${pid}.`;
}

/** Returns the note of a result that belongs to an earlier call. */
export function joinedNote(startedAt: string, note: unknown): string {
  const joined = `This is the result of the command that an identical call started at ${startedAt}. Call ${toolName("run")} again to run it once more.`;
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
        hint: `Pass the pid that ${toolName("run_background")} returned. Other processes cannot be killed with this tool.`,
      },
    ],
  };
}
