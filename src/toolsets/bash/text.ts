import type { RunResult } from "../../core/result.ts";
import type { SessionInfo } from "../../core/session.ts";
import { counted } from "../../text/format.ts";
import { remarksMessage } from "../outcome-message.ts";
import { exitStatus, repeatedCommand } from "../result-text.ts";
import { toolName } from "../tool-names.ts";
import type { Vocabulary } from "../vocabulary.ts";
import { MAX_TIMEOUT } from "./schema.ts";

export const BASH_WORDS: Vocabulary = {
  background: "run_in_background: true",
  timeout: `a longer timeout (at most ${MAX_TIMEOUT} s)`,
  get stop() {
    return toolName("KillShell");
  },
  session: "shell",
  list: null,
  get status() {
    return toolName("BashOutput");
  },
  get output() {
    return toolName("BashOutput");
  },
  remove: null,
  stdin: null,
  terminal: null,
  shell: null,
  parameters: { timeoutMs: "timeout" },
};

/** Returns why a command ended as it did and what else happened, where the output and the exit code do not say it. */
export function bashNote(outcome: RunResult | SessionInfo): string | null {
  return remarksMessage(outcome, BASH_WORDS);
}

/** Returns a line that says how much another call of BashOutput can read now. */
export function unreadLine(unread: number): string[] {
  return unread > 0 ? [`${counted(unread, "byte")} left to read; call ${toolName("BashOutput")} again`] : [];
}

/**
 * Returns the output, followed by trailer lines: what the output does not say, and the exit status of a command that
 * failed, such as `exit: 124`.
 */
export function bashText(result: RunResult, output: string, timeoutMs: number, unread = 0): string {
  const end = result.status === "running" ? [`shell_id: ${result.id}`, stillRunning(result.durationMs)] : [];
  const late = result.status === "timed_out" ? [`bash: timed out after ${timeoutMs / 1000}s`] : [];
  const code = exitStatus(result);
  const exit = code === null || code === 0 ? [] : [`exit: ${code}`];
  const remarks = remarkLines(bashNote(result), result.warnings);
  return withTrailer(output, [...unreadLine(unread), ...late, ...remarks, ...end, ...exit]) || "(no output)";
}

function remarkLines(note: string | null, warnings: readonly string[]): string[] {
  return [...(note === null ? [] : [`bash: ${note}`]), ...warnings.map((warning) => `bash: warning: ${warning}`)];
}

function stillRunning(durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1000);
  return `still running after ${seconds}s, now in the background; read its output with ${toolName("BashOutput")}, stop it with ${toolName("KillShell")}`;
}

export function startedText({ id, warnings }: SessionInfo, command: string): string {
  const started = [`shell_id: ${id}`, `started in background: ${repeatedCommand(command)}`];
  return [...started, ...remarkLines(null, warnings)].join("\n");
}

interface Unread {
  output: string;
  status: string;
  exitCode: number | null;
  unread: number;
  note: string | null;
  warnings: readonly string[];
}

export function unreadText({ output, status, exitCode, unread, note, warnings }: Unread): string {
  const exit = exitCode === null ? [] : [`exit: ${exitCode}`];
  return withTrailer(output, [...unreadLine(unread), ...remarkLines(note, warnings), `status: ${status}`, ...exit]);
}

export function killedText(id: string, status: string, killed: boolean): string {
  return killed ? `killed: ${id}` : `shell ${id} had already ended (${status})`;
}

function withTrailer(output: string, lines: readonly string[]): string {
  if (lines.length === 0) return output;
  const gap = output === "" || output.endsWith("\n") ? "" : "\n";
  return `${output}${gap}${lines.join("\n")}`;
}
