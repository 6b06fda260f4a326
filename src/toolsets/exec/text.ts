import type { RunResult } from "../../core/result.ts";
import type { SessionInfo } from "../../core/session.ts";
import { formatDuration } from "../../text/format.ts";
import { outcomeNote } from "../outcome-message.ts";
import {
  exitStatus,
  fieldsLine,
  joinLines,
  listedCommand,
  listText,
  type ResultRemarks,
  remarkLines,
} from "../result-text.ts";
import { durationField } from "../sessions.ts";
import { toolName } from "../tool-names.ts";
import type { Vocabulary } from "../vocabulary.ts";

export const EXEC_WORDS: Vocabulary = {
  background: "background: true",
  timeout: "a longer timeout",
  get stop() {
    return `${toolName("process_manager")} action=kill`;
  },
  session: "session",
  get list() {
    return toolName("process_list");
  },
  get status() {
    return toolName("process_poll");
  },
  get output() {
    return toolName("process_log");
  },
  remove: null,
  stdin: "background: true",
  get terminal() {
    return toolName("execute_pty");
  },
  shell: null,
  parameters: { cwd: "cwd", env: "env", timeoutMs: "timeout" },
};

/** Returns `exit_code`, which is null after a timeout: `timed_out` reports the timeout. */
export function exitCodeOf(ended: Parameters<typeof exitStatus>[0]): number | null {
  return ended.status === "timed_out" ? null : exitStatus(ended);
}

/** Returns the output, followed by a line with session ID, exit code and log path, the note and the warnings. */
export function executeText({ output, ...structured }: Record<string, unknown>): string {
  const { session_id, exit_code, timed_out, log_path } = structured;
  const running = structured.status === "running";
  const facts = fieldsLine({ session_id, ...(running ? { status: "running" } : {}), exit_code, timed_out, log_path });
  const nothing = running ? null : "(no output)";
  return joinLines([String(output) || nothing, facts, ...remarkLines(structured as ResultRemarks)]);
}

/** Returns the text of a result about one session: its output, if the result has it, and its state. */
export function sessionText({ output, ...structured }: Record<string, unknown>): string {
  const { status, exit_code, duration_ms, written_bytes, killed } = structured;
  const facts = fieldsLine({
    ...(killed === undefined ? {} : { killed: String(killed) }),
    written_bytes,
    status,
    exit_code,
    duration_ms,
  });
  const shown = output === undefined ? null : String(output) || "(no output)";
  return joinLines([shown, facts, ...remarkLines(structured as ResultRemarks)]);
}

/** Returns the text of a result of `process_manager`; that of `log` is written together with its lines. */
export function managerText(structured: Record<string, unknown>): string {
  return structured.sessions === undefined ? sessionText(structured) : sessionsText(structured);
}

/** Returns the text of a list of sessions. */
export function sessionsText({ sessions, total, note }: Record<string, unknown>): string {
  return listText(sessions as Record<string, unknown>[], {
    total: Number(total),
    note: (note ?? null) as string | null,
  });
}

export function executeNote(result: RunResult, timeoutMs: number): string | null {
  if (result.status !== "running") return outcomeNote(result, EXEC_WORDS, timeoutMs);
  return `Still running after ${formatDuration(result.durationMs)}; it continues in the background until its timeout. Follow it with ${toolName("process_poll")} and ${toolName("process_log")}.`;
}

function inBackground(): string {
  return `Started in the background. Follow it with ${toolName("process_poll")} and ${toolName("process_log")}; its exit adds an EXEC_CALLBACK item to the work queue.`;
}

/** Returns the note of a command that was started in the background, which may have ended already. */
export function startedNote(info: SessionInfo): string | null {
  return info.status === "running" ? inBackground() : outcomeNote(info, EXEC_WORDS);
}

export function sessionEntry(info: SessionInfo): Record<string, unknown> {
  return {
    session_id: info.id,
    command: listedCommand(info.command, info.args),
    status: info.status,
    exit_code: exitCodeOf(info),
    started_at: info.startedAt,
    duration_ms: durationField(info),
    log_path: info.logFile,
  };
}
