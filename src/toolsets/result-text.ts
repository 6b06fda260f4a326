import { constants } from "node:os";
import type { Screen } from "../core/terminal.ts";
import type { LogLines } from "../session/logs/reader.ts";
import { commandLine } from "../text/command-line.ts";
import { counted } from "../text/format.ts";
import { COMMAND_BYTES, LISTED_COMMAND_BYTES } from "../text/output-limits.ts";
import { truncateMiddle } from "../text/truncate.ts";
import { failureText } from "./failures.ts";
import type { ToolFailure } from "./tool.ts";

/** Returns a command as one line, for a list or a status. */
export function listedCommand(command: string, args: readonly string[] | null): string {
  return truncateMiddle(commandLine(command, args), { maxBytes: LISTED_COMMAND_BYTES }).text.replaceAll("\n", " ");
}

/** Returns a command as the caller wrote it, truncated when very long. */
export function repeatedCommand(command: string): string {
  return truncateMiddle(command, { maxBytes: COMMAND_BYTES }).text;
}

const TIMED_OUT = 124;
const SIGNAL_BASE = 128;

interface Ended {
  status: string;
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * Returns the exit status as a shell and timeout(1) report it, or null when the command is running or never started.
 */
export function exitStatus({ status, exitCode, signal }: Ended): number | null {
  if (status === "timed_out") return TIMED_OUT;
  if (exitCode !== null) return exitCode;
  return signal === null ? null : SIGNAL_BASE + (constants.signals[signal] ?? 0);
}

/** Returns one line per warning, for the text of a result. */
export function warningLines(warnings: readonly string[]): string[] {
  return warnings.map((warning) => `Warning: ${warning}`);
}

/** The fields of a result that texts show apart from the others. */
export interface ResultRemarks {
  note?: string | null;
  warnings?: readonly string[];
  waiting?: string | null;
  error?: ToolFailure;
}

/** Returns what a result says about its command: the error with its next steps, the note, the warnings. */
export function remarkLines({ note, warnings = [], waiting, error }: ResultRemarks): string[] {
  const told = [error ? failureText(error) : "", note ?? ""].filter((part) => part !== "");
  return [...told, ...warningLines(warnings), ...(waiting ? [waiting] : [])];
}

/**
 * Returns fields as one line, such as `[exit_code: -1, timed_out: true]`. Fields that are absent, null, false or empty are
 * omitted, and those of an object are shown as fields of their own.
 */
export function fieldsLine(fields: Record<string, unknown>): string {
  const shown = pairs(fields);
  return shown.length > 0 ? `[${shown.join(", ")}]` : "";
}

function pairs(fields: Record<string, unknown>): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (value === null || value === undefined || value === false || value === "") return [];
    return typeof value === "object" ? pairs(value as Record<string, unknown>) : [`${name}: ${value}`];
  });
}

/** Returns stdout, followed by stderr below a heading. */
export function streamsText(stdout: string, stderr: string): string {
  return joinLines([stdout, stderr === "" ? null : `stderr:\n${stderr}`]) || "(no output)";
}

/** Returns a list of sessions, one per line, followed by the number of those that match. */
export function listText(
  sessions: readonly Record<string, unknown>[],
  { total, note = null }: { total: number; note?: string | null },
): string {
  // What the status says as well is omitted.
  const lines = sessions.map(({ command, exited: _, timed_out: __, warnings, note: remark, ...facts }) =>
    joinLines([`${fieldsLine(facts)} ${command}`, ...remarkLines({ note: remark, warnings } as ResultRemarks)]),
  );
  return joinLines([...lines, fieldsLine({ total: String(total) }), note]);
}

/** Returns the `note` of a list that may be incomplete. */
export function warningsNote(warnings: readonly string[]): { note?: string } {
  return warnings.length > 0 ? { note: warnings.join(" ") } : {};
}

/** Returns as many of the first entries as fit into `maxBytes` of JSON (invariant 6). */
export function withinBytes<T>(entries: readonly T[], maxBytes: number): T[] {
  const fitting: T[] = [];
  let bytes = 2;
  for (const entry of entries) {
    bytes += Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (bytes > maxBytes) break;
    fitting.push(entry);
  }
  return fitting;
}

/** Returns a slice of a log, followed by its position in the log. */
export function logText({ text, from, next, total, droppedBytes }: LogLines): string {
  const some = next > from ? `lines ${from + 1} to ${next} of ${total}` : `end of log, ${total} lines`;
  const where = total === 0 ? "no output" : some;
  const gone = droppedBytes > 0 ? `; ${counted(droppedBytes, "byte")} were dropped, their lines are not counted` : "";
  const more = next < total ? `; continue with offset ${next}` : "";
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}[${where}${gone}${more}]`;
}

export function joinLines(parts: readonly (string | null)[]): string {
  return parts
    .filter((part): part is string => part !== null && part !== "")
    .map((part) => (part.endsWith("\n") ? part.slice(0, -1) : part))
    .join("\n");
}

/** Returns the rows of a terminal without trailing blank rows, followed by its size and cursor position. */
export function screenText({ lines, cursor, columns, rows, alternate }: Screen): string {
  const used = lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
  const place = `cursor at row ${cursor.row + 1}, column ${cursor.column + 1}${cursor.visible ? "" : " (hidden)"}`;
  return joinLines([used.join("\n"), `[${columns} x ${rows}, ${place}${alternate ? ", full-screen program" : ""}]`]);
}
