import { BASH_OUTPUT_BYTES } from "../../core/output-limits.ts";
import type { RunResult } from "../../core/result.ts";
import { counted } from "../../text/format.ts";
import { forModel, type ModelText } from "../../text/model-output.ts";
import { outcomeMessage } from "../outcome-message.ts";
import { exitStatus, repeatedCommand } from "../result-text.ts";

/** The merged output of a foreground command, at most 100 KiB of it. */
export function bashOutput({ id, output, truncated }: RunResult): ModelText {
  const hint = `BashOutput shell_id=${id}, from the beginning`;
  return forModel(output, { maxBytes: BASH_OUTPUT_BYTES, omittedBytes: truncated.stdout, hint });
}

/** Output, then how it ended where that is not well: `bash: timed out after 2s`, `exit: 124`. */
export function bashText(result: RunResult, output: string, timeoutMs: number): string {
  return withTrailer(output, trailer(result, timeoutMs));
}

function trailer(result: RunResult, timeoutMs: number): string[] {
  if (result.status === "running") return [`shell_id: ${result.id}`, stillRunning(result.durationMs)];
  const code = exitStatus(result);
  const exit = code === null || code === 0 ? [] : [`exit: ${code}`];
  if (result.status === "timed_out") return [`bash: timed out after ${timeoutMs / 1000}s`, ...exit];
  // A code speaks for itself; that somebody ended it, or a signal nobody asked for, does not.
  const why = result.status === "killed" || result.status === "lost" || result.signal ? outcomeMessage(result) : null;
  return [...(why === null ? [] : [`bash: ${why}`]), ...exit];
}

function stillRunning(durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1000);
  return `still running after ${seconds}s: it goes on in the background; read on with BashOutput, end it with KillShell`;
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
  const head = skipped > 0 ? `[… ${counted(skipped, "byte")} passed over; only the last 1 MiB waits to be read]\n` : "";
  const more = left > 0 ? [`${counted(left, "byte")} more to read: call BashOutput again`] : [];
  const exit = exitCode === null ? [] : [`exit: ${exitCode}`];
  return withTrailer(head + output, [...more, `status: ${status}`, ...exit]);
}

export function killedText(id: string, status: string, killed: boolean): string {
  return killed ? `killed: ${id}` : `shell ${id} had ended before (${status})`;
}

function withTrailer(output: string, lines: readonly string[]): string {
  if (lines.length === 0) return output;
  const gap = output === "" || output.endsWith("\n") ? "" : "\n";
  return `${output}${gap}${lines.join("\n")}`;
}
