import { BASH_OUTPUT_BYTES } from "../../core/output-limits.ts";
import type { RunResult } from "../../core/result.ts";
import { counted } from "../../text/format.ts";
import { forModel, type ModelText } from "../../text/model-output.ts";
import { outcomeMessage } from "../outcome-message.ts";
import { exitStatus, repeatedCommand } from "../result-text.ts";

/** Returns the merged output of a foreground command, truncated to 100 KiB. */
export function bashOutput({ id, output, truncated }: RunResult): ModelText {
  const hint = `BashOutput shell_id=${id}, which starts at the beginning`;
  return forModel(output, { maxBytes: BASH_OUTPUT_BYTES, omittedBytes: truncated.stdout, hint });
}

/** Returns the output, followed by trailer lines for a command that did not succeed, such as `exit: 124`. */
export function bashText(result: RunResult, output: string, timeoutMs: number): string {
  return withTrailer(output, trailer(result, timeoutMs)) || "(no output)";
}

function trailer(result: RunResult, timeoutMs: number): string[] {
  if (result.status === "running") return [`shell_id: ${result.id}`, stillRunning(result.durationMs)];
  const code = exitStatus(result);
  const exit = code === null || code === 0 ? [] : [`exit: ${code}`];
  if (result.status === "timed_out") return [`bash: timed out after ${timeoutMs / 1000}s`, ...exit];
  // An exit code needs no explanation; a kill, a lost session and an unexpected signal do.
  const why = result.status === "killed" || result.status === "lost" || result.signal ? outcomeMessage(result) : null;
  return [...(why === null ? [] : [`bash: ${why}`]), ...exit];
}

function stillRunning(durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1000);
  return `still running after ${seconds}s, now in the background; read its output with BashOutput, stop it with KillShell`;
}

export function startedText(id: string, command: string): string {
  return `shell_id: ${id}\nstarted in background: ${repeatedCommand(command)}`;
}

interface Unread {
  output: string;
  status: string;
  exitCode: number | null;
  left: number;
  skipped: number;
}

export function unreadText({ output, status, exitCode, left, skipped }: Unread): string {
  const head =
    skipped > 0 ? `[… ${counted(skipped, "byte")} skipped; only the last 1 MiB of unread output is kept]\n` : "";
  const more = left > 0 ? [`${counted(left, "byte")} left to read; call BashOutput again`] : [];
  const exit = exitCode === null ? [] : [`exit: ${exitCode}`];
  return withTrailer(head + output, [...more, `status: ${status}`, ...exit]);
}

export function killedText(id: string, status: string, killed: boolean): string {
  return killed ? `killed: ${id}` : `shell ${id} had already ended (${status})`;
}

function withTrailer(output: string, lines: readonly string[]): string {
  if (lines.length === 0) return output;
  const gap = output === "" || output.endsWith("\n") ? "" : "\n";
  return `${output}${gap}${lines.join("\n")}`;
}
