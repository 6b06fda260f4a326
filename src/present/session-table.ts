import { styleText } from "node:util";
import type { Status } from "../contract/result.ts";
import type { SessionInfo } from "../contract/session.ts";
import { commandLine } from "./command-line.ts";
import { formatDuration } from "./duration.ts";
import type { Column } from "./table.ts";

const STATUS_COLOR: Partial<Record<Status, "green" | "yellow" | "red" | "gray">> = {
  running: "green",
  pending: "yellow",
  completed: "gray",
  timed_out: "yellow",
  killed: "yellow",
  failed: "red",
  lost: "red",
  blocked: "red",
  denied: "red",
};

/** How it ended in one word: the exit code, the signal, or `-` while it has not. */
export function exitWord({ exitCode, signal }: SessionInfo): string {
  return signal ?? (exitCode === null ? "-" : String(exitCode));
}

/** For a person: short ids, ages, and the command cut to what fits. */
export function terminalColumns(sessions: SessionInfo[], nowMs: number, color: boolean): Column<SessionInfo>[] {
  const shorten = shortIds(sessions.map(({ id }) => id));
  return [
    { title: "ID", value: ({ id }) => shorten(id) },
    { title: "NAME", value: ({ name }) => name },
    { title: "STATUS", value: ({ status }) => status, style: (text, { status }) => paint(text, status, color) },
    { title: "EXIT", value: exitWord },
    { title: "STARTED", value: ({ startedAt }) => `${formatDuration(nowMs - Date.parse(startedAt))} ago` },
    { title: "TOOK", value: ({ durationMs }) => formatDuration(durationMs) },
    { title: "COMMAND", value: ({ command, args }) => commandLine(command, args), flexible: true },
  ];
}

/** For a program: everything whole. */
export const PIPED_COLUMNS: Column<SessionInfo>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "NAME", value: ({ name }) => name },
  { title: "STATUS", value: ({ status }) => status },
  { title: "EXIT", value: exitWord },
  { title: "STARTED", value: ({ startedAt }) => startedAt },
  { title: "MS", value: ({ durationMs }) => String(Math.round(durationMs)) },
  { title: "COMMAND", value: ({ command, args }) => commandLine(command, args) },
];

const SHORTEST = 13;

/** The first 13 characters of a UUIDv7 are its millisecond; ids that share one are shown as far as they differ. */
export function shortIds(ids: string[]): (id: string) => string {
  return (id) => {
    let length = SHORTEST;
    while (length < id.length && ids.some((other) => other !== id && other.startsWith(id.slice(0, length))))
      length += 1;
    return id.slice(0, length);
  };
}

function paint(text: string, status: Status, color: boolean): string {
  const hue = STATUS_COLOR[status];
  return color && hue ? styleText(hue, text, { validateStream: false }) : text;
}
