import type { RunResult } from "../../core/result.ts";
import type { SessionInfo } from "../../core/session.ts";
import { formatDuration } from "../../text/format.ts";
import { outcomeMessage } from "../outcome-message.ts";
import { exitStatus, joinLines, listedCommand, warningLines } from "../result-text.ts";
import type { Vocabulary } from "../vocabulary.ts";

export const EXEC_WORDS: Vocabulary = {
  background: "background: true",
  timeout: "a longer timeout",
  stop: 'process_manager and action: "kill"',
  list: "process_list",
  status: "process_poll",
  output: "process_log",
  remove: null,
  stdin: "background: true",
  terminal: "execute_pty",
  shell: null,
  parameters: { cwd: "cwd", env: "env", timeoutMs: "timeout" },
};

/** Returns `exit_code`, which is null after a timeout: `timed_out` reports the timeout. */
export function exitCodeOf(ended: Parameters<typeof exitStatus>[0]): number | null {
  return ended.status === "timed_out" ? null : exitStatus(ended);
}

interface Executed {
  output: string;
  note: string | null;
  warnings: readonly string[];
  [fact: string]: unknown;
}

/** Returns the output, followed by a line with session ID, exit code and log path, the note and the warnings. */
export function executeText({ output, note, warnings, ...facts }: Executed): string {
  const line = `[${["session_id", "exit_code", "log_path"].map((name) => `${name}: ${facts[name]}`).join(", ")}]`;
  return joinLines([output || "(no output)", line, note, ...warningLines(warnings)]);
}

export function executeNote(result: RunResult, timeoutMs: number): string | null {
  if (result.status !== "running") return outcomeMessage(result, EXEC_WORDS, timeoutMs);
  return `Still running after ${formatDuration(result.durationMs)}; it continues in the background until its timeout. Follow it with process_poll and process_log.`;
}

const IN_BACKGROUND =
  "Started in the background. Follow it with process_poll and process_log; its exit adds an EXEC_CALLBACK item to the work queue.";

/** Returns the note of a command that was started in the background, which may have ended already. */
export function startedNote(info: SessionInfo): string | null {
  return info.status === "running" ? IN_BACKGROUND : outcomeMessage(info, EXEC_WORDS);
}

export function sessionEntry(info: SessionInfo): Record<string, unknown> {
  return {
    session_id: info.id,
    command: listedCommand(info.command, info.args),
    status: info.status,
    exit_code: exitCodeOf(info),
    started_at: info.startedAt,
    duration_ms: Math.round(info.durationMs),
    log_path: info.logFile,
  };
}
