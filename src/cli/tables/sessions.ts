import { styleText } from "node:util";
import type { Status } from "../../core/result.ts";
import type { SessionInfo } from "../../core/session.ts";
import { commandLine } from "../../text/command-line.ts";
import { formatAge, formatDuration } from "../../text/format.ts";
import type { Column } from "../../text/table.ts";

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
function exitWord({ exitCode, signal }: SessionInfo): string {
  return signal ?? (exitCode === null ? "-" : String(exitCode));
}

/** Below this the command would hardly be seen; how long it took is then left to `inspect`. */
const WIDE = 100;

/** For a person: short ids, ages, and the command cut to what fits. While all are running no column tells of ends. */
export function terminalColumns(
  sessions: SessionInfo[],
  screen: { nowMs: number; columns: number; color: boolean },
): Column<SessionInfo>[] {
  const shorten = shortIds(sessions.map(({ id }) => id));
  const someEnded = sessions.some(({ status }) => status !== "running");
  const elsewhere = sessions.some(({ host }) => host !== null);
  const columns: (Column<SessionInfo> | null)[] = [
    { title: "ID", value: ({ id }) => shorten(id) },
    { title: "NAME", value: ({ name }) => name, flexible: true },
    { title: "STATUS", value: ({ status }) => status, style: (text, { status }) => paint(text, status, screen.color) },
    elsewhere ? { title: "HOST", value: ({ host }) => host ?? "-" } : null,
    someEnded ? { title: "EXIT", value: (info) => exitWord(info).replace(/^SIG/, "") } : null,
    { title: "AGE", value: ({ startedAt }) => formatAge(screen.nowMs - Date.parse(startedAt)), align: "right" },
    someEnded && screen.columns >= WIDE
      ? { title: "TOOK", value: ({ durationMs }) => formatDuration(durationMs), align: "right" }
      : null,
    { title: "COMMAND", value: ({ command, args }) => commandLine(command, args), flexible: true },
  ];
  return columns.filter((column) => column !== null);
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
  { title: "HOST", value: ({ host }) => host ?? "-" },
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
