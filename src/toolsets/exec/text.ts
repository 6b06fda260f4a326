import type { RunResult } from "../../core/result.ts";
import type { SessionInfo } from "../../core/session.ts";
import { formatDuration } from "../../text/duration.ts";
import { forModel } from "../../text/for-model.ts";
import { messageFor } from "../message.ts";
import { listedCommand } from "../texts/command.ts";
import { exitStatus } from "../texts/exit-status.ts";

/** `exit_code`: none after a timeout, which `timed_out` tells. */
export function exitCodeOf(ended: Parameters<typeof exitStatus>[0]): number | null {
  return ended.status === "timed_out" ? null : exitStatus(ended);
}

export function execOutput({ id, output, truncated }: RunResult): string {
  return forModel(output, { omittedBytes: truncated.stdout, hint: `process_log session_id=${id}` }).text;
}

/** The output, then a line with what else there is to know. */
export function executeText(output: string, facts: Record<string, unknown>, note: string | null): string {
  const gap = output === "" || output.endsWith("\n") ? "" : "\n";
  const line = `[${["session_id", "exit_code", "log_path"].map((name) => `${name}: ${facts[name]}`).join(", ")}]`;
  return [`${output}${gap}${line}`, ...(note === null ? [] : [note])].join("\n");
}

export function executeNote(result: RunResult, timeoutMs: number): string | null {
  if (result.status !== "running") return messageFor(result, { timeoutMs });
  return `Still running after ${formatDuration(result.durationMs)}: it carries on in the background until its timeout. See process_poll and process_log.`;
}

export const IN_BACKGROUND =
  "Running in the background: see process_poll and process_log; its exit puts an EXEC_CALLBACK into the work queue.";

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

export const LINE_CUT = "[… the rest of this line is left out: it is longer than an answer may be]";

/** The lines as they are, and where they stand among all. */
export function logText(content: string, from: number, next: number, total: number): string {
  const some = next > from ? `lines ${from + 1} to ${next} of ${total}` : `no more than ${total} lines`;
  const where = total === 0 ? "no output" : some;
  const more = next < total ? `; go on with offset ${next}` : "";
  return `${content}${content === "" || content.endsWith("\n") ? "" : "\n"}[${where}${more}]`;
}

export function missingArgument(action: string, name: string) {
  return {
    type: "InvalidRequest",
    message: `\`${name}\` is required for the action ${action}.`,
    recovery: [{ action: "fix_request", hint: `Give \`${name}\` with action: "${action}".` }],
  };
}

const USE_PROCESS_LIST = { action: "list_processes", hint: "process_list shows the sessions there are." };
export const EXEC_ERRORS = {
  SessionNotFound: { recovery: [USE_PROCESS_LIST], only: true },
  AmbiguousId: { recovery: [USE_PROCESS_LIST], only: true },
} as const;
