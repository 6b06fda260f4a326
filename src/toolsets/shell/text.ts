import { MODEL_BYTES } from "../../core/output-limits.ts";
import type { RunResult } from "../../core/result.ts";
import type { SessionInfo, WaitOutcome } from "../../core/session.ts";
import { counted, formatDuration } from "../../text/format.ts";
import { aggregated, forModel, tail } from "../../text/model-output.ts";
import { outcomeMessage } from "../outcome-message.ts";
import { joinLines, listedCommand } from "../result-text.ts";

/** What is told of a session everywhere. `exit_code` is null where a signal or a deadline ended it. */
export function sessionFields(info: SessionInfo): Record<string, unknown> {
  return {
    session_id: info.id,
    command: listedCommand(info.command, info.args),
    status: info.status,
    pid: info.status === "running" ? info.pid : null,
    exited: info.status !== "running",
    exit_code: info.exitCode,
    exit_signal: info.signal,
    timed_out: info.timedOut,
    backgrounded: info.background,
    duration_ms: Math.round(info.durationMs),
    warnings: info.warnings,
  };
}

/** The same of a foreground command, without looking its session up. */
export function execFields(command: string, result: RunResult, pid: number | null): Record<string, unknown> {
  const { id, status, exitCode, signal, timedOut, durationMs, warnings, output, truncated } = result;
  const facts = { omittedBytes: truncated.stdout, hint: hintFor(id) };
  return {
    session_id: id,
    command: listedCommand(command, null),
    status,
    pid,
    exited: status !== "running",
    exit_code: exitCode,
    exit_signal: signal,
    timed_out: timedOut,
    backgrounded: status === "running",
    duration_ms: Math.round(durationMs),
    warnings,
    aggregated: aggregated(output, facts),
    tail: tail(output, facts),
  };
}

function hintFor(id: string): string {
  return `process action=log session_id=${id} offset=0`;
}

export function execText(result: RunResult, pid: number | null): string {
  const { id, output, truncated, warnings } = result;
  const shown = forModel(output, { maxBytes: MODEL_BYTES, omittedBytes: truncated.stdout, hint: hintFor(id) }).text;
  const end = result.status === "running" ? stillRunning(id, pid, result.durationMs) : outcomeMessage(result);
  return joinLines([shown, end, ...warnings.map((warning) => `Warning: ${warning}`)]);
}

function stillRunning(id: string, pid: number | null, durationMs: number): string {
  const since = formatDuration(durationMs);
  return `Still running after ${since} (session_id ${id}, pid ${pid}): it carries on in the background. Use process (poll, wait, log, write, kill) for follow-up.`;
}

export function startedText({ id, pid, warnings }: SessionInfo): string {
  const start = `Started in the background (session_id ${id}, pid ${pid}). Use process (poll, wait, log, write, kill) for follow-up.`;
  return joinLines([start, ...warnings.map((warning) => `Warning: ${warning}`)]);
}

/** New output, then how it stands. */
export function pollText(output: string, info: SessionInfo, left: number): string {
  const more = left > 0 ? `${counted(left, "byte")} more to read: poll again.` : null;
  return joinLines([output === "" ? "(no new output)" : output, more, stateText(info)]);
}

export function stateText(info: SessionInfo): string {
  if (info.status === "running") return `Session ${info.id} is running (pid ${info.pid}).`;
  const how = info.signal ? `signal ${info.signal}` : `exit code ${info.exitCode}`;
  return outcomeMessage(info) ?? `Session ${info.id} has ended: ${info.status}, ${how}.`;
}

const LIST = { action: "list_processes", hint: 'process with action: "list" shows the sessions there are.' };
const STDIN_HINT = {
  action: "open_stdin",
  hint: "Only a session started with background: true, or on a terminal (pty: true), can be written to.",
};

export const SHELL_ERRORS = {
  SessionNotFound: { recovery: [LIST], only: true },
  AmbiguousId: { recovery: [LIST], only: true },
  AlreadyExited: {
    recovery: [{ action: "check_status", hint: 'process with action: "poll" shows how it ended.' }],
    only: true,
  },
  StillRunning: {
    recovery: [{ action: "force_kill", hint: 'End it first (action: "kill"), or use action: "remove".' }],
    only: true,
  },
  StdinClosed: { recovery: [STDIN_HINT], only: true },
} as const;

const REASONS: Record<WaitOutcome["reason"], string> = {
  exit: "It has ended.",
  pattern: "The pattern was found.",
  quiet: "It has gone quiet.",
  input: "It waits for input.",
  timeout: "Nothing of what was waited for has happened yet; wait again, or look with poll or screen.",
};

export function waitText(reason: WaitOutcome["reason"], output: string): string {
  return joinLines([output, REASONS[reason]]);
}
