import type { RunResult } from "../../core/result.ts";
import type { SessionInfo, WaitOutcome } from "../../core/session.ts";
import { counted, formatDuration } from "../../text/format.ts";
import { tail } from "../../text/model-output.ts";
import { truncateMiddle } from "../../text/truncate.ts";
import { outcomeMessage } from "../outcome-message.ts";
import { joinLines, listedCommand, warningLines } from "../result-text.ts";
import { durationField } from "../sessions.ts";
import { toolName } from "../tool-names.ts";
import type { Vocabulary } from "../vocabulary.ts";

export const SHELL_WORDS: Vocabulary = {
  background: "background: true",
  timeout: "a longer timeout",
  get stop() {
    return `${toolName("process")} action=kill`;
  },
  session: "session",
  get list() {
    return `${toolName("process")} action=list`;
  },
  get status() {
    return `${toolName("process")} action=poll`;
  },
  get output() {
    return `${toolName("process")} action=log`;
  },
  get remove() {
    return `${toolName("process")} action=remove`;
  },
  stdin: "background: true",
  terminal: "pty: true",
  shell: null,
  parameters: { cwd: "workdir", env: "env", timeoutMs: "timeout", pty: "pty" },
};

/** Returns the fields that describe a session in every result. `exit_code` is null after a signal or a timeout. */
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
    duration_ms: durationField(info),
    warnings: info.warnings,
    note: outcomeMessage(info, SHELL_WORDS),
  };
}

/** Returns the same fields for a foreground command, from its result. */
export function execFields(
  command: string,
  result: RunResult,
  pid: number | null,
  { aggregated, note }: { aggregated: string; note: string | null },
): Record<string, unknown> {
  const { id, status, exitCode, signal, timedOut, durationMs, warnings } = result;
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
    note,
    aggregated,
    tail: tail(aggregated),
  };
}

export function execText(result: RunResult, output: string, note: string | null, unread = 0): string {
  return joinLines([output, unreadLine(unread), note, ...warningLines(result.warnings)]) || "(no output)";
}

/** Returns how a foreground command ended, or that it continues. */
export function execNote(result: RunResult, session: Controlled | null, timeoutMs: number | undefined): string | null {
  return session ? stillRunning(session, result.durationMs) : outcomeMessage(result, SHELL_WORDS, timeoutMs);
}

/** Returns a line that says how much another poll can read now. */
function unreadLine(unread: number): string | null {
  return unread > 0 ? `${counted(unread, "byte")} left to read; poll again.` : null;
}

type Controlled = Pick<SessionInfo, "id" | "pid" | "pty">;

function stillRunning(session: Controlled, durationMs: number): string {
  const since = `Still running after ${formatDuration(durationMs)}`;
  return `${since} (${numbers(session)}); it continues in the background. ${howToFollow(session, false)}`;
}

export function startedText(info: SessionInfo): string {
  const start = `Started in the background (${numbers(info)}). ${howToFollow(info, true)}`;
  return joinLines([start, ...warningLines(info.warnings)]);
}

function numbers({ id, pid }: Controlled): string {
  return `session_id ${id}, pid ${pid}`;
}

/** Names the actions of `process` that the session supports. Without a terminal, stdin may be closed. */
function howToFollow({ pty }: Controlled, openStdin: boolean): string {
  const pipes = openStdin ? "wait, poll, log, write, kill" : "wait, poll, log, kill";
  return `Follow and control it with ${toolName("process")} (${pty === null ? pipes : "wait, poll, screen, submit, send-keys, kill"}).`;
}

/** Returns the new output, followed by the state of the session. */
export function pollText(output: string, info: SessionInfo, unread: number): string {
  return joinLines([output || "(no new output)", unreadLine(unread), stateText(info)]);
}

/** Returns the state of a session and its warnings. */
export function stateText(info: SessionInfo): string {
  return joinLines([stateLine(info), ...warningLines(info.warnings)]);
}

function stateLine(info: SessionInfo): string {
  if (info.status === "running") return `Session ${info.id} is running (pid ${info.pid}).`;
  const how = info.signal ? `signal ${info.signal}` : `exit code ${info.exitCode}`;
  return outcomeMessage(info, SHELL_WORDS) ?? `Session ${info.id} has ended (${how}).`;
}

/** The text that says why a wait returned. It is empty after an exit, which the state of the session shows. */
const REASONS: Record<WaitOutcome["reason"], string> = {
  exit: "",
  pattern: "The pattern matched.",
  quiet: "There was no output for quietMs.",
  input: "The program is waiting for input.",
  timeout: "The condition was not met in time; wait again if it needs longer.",
};

export function waitText(reason: WaitOutcome["reason"], match: string | null, output: string): string {
  // The match may be in output that is still unread.
  const unseen =
    match && !output.includes(match) ? `It matched: ${truncateMiddle(match, { maxBytes: 500 }).text}` : null;
  return joinLines([output, REASONS[reason], unseen]);
}
