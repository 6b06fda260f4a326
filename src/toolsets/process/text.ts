import type { ResourceUsage, RunResult, Status } from "../../core/result.ts";
import type { SessionInfo } from "../../core/session.ts";
import { outcomeNote, remarksOnly } from "../outcome-message.ts";
import {
  fieldsLine,
  joinLines,
  listedCommand,
  listText,
  type ResultRemarks,
  remarkLines,
  streamsText,
} from "../result-text.ts";
import { durationField } from "../sessions.ts";
import { toolName } from "../tool-names.ts";
import type { Vocabulary } from "../vocabulary.ts";
import { MAX_TIMEOUT } from "./schema.ts";

export const PROCESS_WORDS: Vocabulary = {
  background: "background: true",
  timeout: `a longer timeout (at most ${MAX_TIMEOUT} s)`,
  get stop() {
    return toolName("process.kill");
  },
  session: "process",
  get list() {
    return toolName("process.list");
  },
  get status() {
    return toolName("process.monitor");
  },
  get output() {
    return toolName("process.logs");
  },
  remove: null,
  stdin: null,
  terminal: null,
  shell: "the whole command line in command, without args",
  parameters: {
    args: "args",
    cwd: "working_directory",
    env: "environment",
    limits: "memory_limit",
    stdin: "stdin",
    timeoutMs: "timeout",
  },
};

const STATE: Partial<Record<Status, string>> = {
  running: "running",
  completed: "completed",
  killed: "killed",
  timed_out: "timed_out",
  // The command is killed together with its keeper.
  lost: "killed",
};

/** Returns one of the contract's four states, or null when the command never started. */
export function stateOf(status: Status): string | null {
  return STATE[status] ?? null;
}

export function usageOf(usage: ResourceUsage | null): Record<string, number> {
  return {
    cpu_ms: usage?.cpuMs ?? 0,
    memory_peak_bytes: usage?.memoryPeakBytes ?? 0,
    io_read_bytes: usage?.ioReadBytes ?? 0,
    io_write_bytes: usage?.ioWriteBytes ?? 0,
  };
}

/** Returns `exit_code`, which is null unless the process exited without being killed. */
export function exitCodeOf({ status, exitCode }: Pick<SessionInfo, "status" | "exitCode">): number | null {
  return status === "completed" ? exitCode : null;
}

/** Returns the result of `process.run` for a command that has ended or is still running. */
export function processResult(
  result: RunResult,
  summaries: { stdout: string; stderr: string },
  usage: ResourceUsage | null,
  timeoutMs?: number,
): Record<string, unknown> {
  const { id, status, durationMs, warnings, error } = result;
  const note = error ? remarksOnly(result, PROCESS_WORDS) : runNote(result, timeoutMs);
  return {
    exit_code: exitCodeOf(result),
    stdout_summary: summaries.stdout,
    stderr_summary: summaries.stderr,
    duration_ms: Math.round(durationMs),
    process_id: id,
    state: stateOf(status),
    resource_usage: usageOf(usage),
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(note === null ? {} : { note }),
  };
}

function runNote(result: RunResult, timeoutMs: number | undefined): string | null {
  return result.status === "running" ? stillRunning(result.durationMs) : outcomeNote(result, PROCESS_WORDS, timeoutMs);
}

function stillRunning(durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1000);
  return `Still running after ${seconds}s; it continues in the background until its timeout. Follow it with ${toolName("process.monitor")} and ${toolName("process.logs")}, and stop it with ${toolName("process.kill")}.`;
}

/** Returns one process as shown by `process.monitor` and `process.list`. */
export function processEntry(info: SessionInfo, usage: ResourceUsage | null): Record<string, unknown> {
  return {
    process_id: info.id,
    command: listedCommand(info.command, info.args),
    state: stateOf(info.status),
    exit_code: exitCodeOf(info),
    started_at: info.startedAt,
    duration_ms: durationField(info),
    resource_usage: usageOf(usage),
    ...(info.host === null ? {} : { host: info.host }),
  };
}

/** Returns a process as shown by `process.monitor`: also how it ended, and its warnings. */
export function monitored(info: SessionInfo, usage: ResourceUsage | null): Record<string, unknown> {
  const note = info.error ? remarksOnly(info, PROCESS_WORDS) : outcomeNote(info, PROCESS_WORDS);
  return {
    ...processEntry(info, usage),
    ...(info.warnings.length > 0 ? { warnings: info.warnings } : {}),
    ...(note === null ? {} : { note }),
  };
}

/** Returns the text of a result of `process.run`, without the resource usage, which `process.monitor` returns. */
export function runText({ stdout_summary, stderr_summary, ...structured }: Record<string, unknown>): string {
  const { process_id, state, exit_code, duration_ms } = structured;
  const started = state === "running" && stdout_summary === "" && stderr_summary === "";
  const output = started ? null : streamsText(String(stdout_summary), String(stderr_summary));
  const facts = fieldsLine({ process_id, state, exit_code, duration_ms });
  return joinLines([output, facts, ...remarkLines(structured as ResultRemarks)]);
}

/** Returns the text of a result of `process.monitor`. */
export function monitorText({
  process_id: _,
  command,
  warnings,
  note,
  error,
  ...facts
}: Record<string, unknown>): string {
  return joinLines([`${fieldsLine(facts)} ${command}`, ...remarkLines({ warnings, note, error } as ResultRemarks)]);
}

/** Returns the text of a result of `process.list`. */
export function processesText({ processes, total, note }: Record<string, unknown>): string {
  return listText(processes as Record<string, unknown>[], {
    total: Number(total),
    note: (note ?? null) as string | null,
  });
}

/** Returns the text of a result of `process.kill`. */
export function killText({ process_id: _, killed, ...facts }: Record<string, unknown>): string {
  return fieldsLine({ killed: String(killed), ...facts });
}

/** Returns the text of a result of `process.logs`: the output, and where it ends. */
export function logsText({ stdout, stderr, ...structured }: Record<string, unknown>): string {
  const { stdout_size, stdout_consumed, stderr_size, stderr_consumed, truncated, state } = structured;
  const position = {
    ...(stdout_size === 0 ? {} : { stdout_consumed, stdout_size }),
    ...(stderr_size === 0 ? {} : { stderr_consumed, stderr_size }),
  };
  return joinLines([streamsText(String(stdout), String(stderr)), fieldsLine({ ...position, truncated, state })]);
}

export function unstartedFailure({ id, status, error }: SessionInfo) {
  return {
    type: "ProcessNotFound",
    message: `Process ${id} never started (${status}). ${error?.message ?? ""}`.trim(),
    recovery: [LIST_PROCESSES],
  };
}

const LIST_PROCESSES = {
  action: "list_processes",
  get hint() {
    return `Use ${toolName("process.list")} to see all tracked processes.`;
  },
};
const CHECK_SCOPE = {
  action: "check_scope",
  hint: "Use a folder inside the workspace, or omit working_directory.",
};

const CHECK_PERMISSIONS = {
  action: "check_permissions",
  hint: "Verify that the program is executable and that the sandbox allows the access it needs.",
};

const RETRY = { action: "retry", hint: "Correct the cause, then retry the operation." };
const SPAWN_FAILED = { type: "SpawnFailed", recovery: [CHECK_PERMISSIONS, RETRY] };
const NOT_FOUND = { type: "ProcessNotFound", recovery: [LIST_PROCESSES], only: true };

/** The contract's error types and recovery actions, by Sallyport's error type. */
export const PROCESS_ERRORS = {
  CommandNotFound: {
    recovery: [
      {
        action: "check_path",
        hint: "Check that the program is installed and on PATH, for example with `command -v`.",
      },
      { action: "use_full_path", hint: "Use the absolute path of the executable." },
    ],
  },
  ResourceLimitExceeded: {
    recovery: [
      {
        action: "increase_limits",
        hint: "Retry with a higher cpu_limit or memory_limit, up to the configured maximum.",
      },
      { action: "optimize", hint: "Change the command to use fewer resources." },
    ],
  },
  PathOutOfScope: { recovery: [CHECK_SCOPE] },
  WorkdirNotFound: { recovery: [CHECK_SCOPE] },
  SpawnFailed: SPAWN_FAILED,
  PermissionDenied: SPAWN_FAILED,
  ArgumentsTooLong: SPAWN_FAILED,
  SessionNotFound: NOT_FOUND,
  AmbiguousId: NOT_FOUND,
  AlreadyExited: {
    type: "ProcessAlreadyExited",
    recovery: [
      { action: "check_status", hint: `Use ${toolName("process.monitor")} to see the final state and exit code.` },
    ],
    only: true,
  },
  KillFailed: { recovery: [{ action: "force_kill", hint: "Retry with signal='SIGKILL'." }] },
} as const;

export function invalidFilter(message: string) {
  const hint = "Use one of: 'running', 'completed', 'killed', 'timed_out', 'all'.";
  return { type: "InvalidFilter", message, recovery: [{ action: "use_valid_filter", hint }] };
}

export function invalidStream(message: string) {
  const hint = "Use one of: 'stdout', 'stderr', 'both'.";
  return { type: "InvalidStream", message, recovery: [{ action: "use_valid_stream", hint }] };
}
