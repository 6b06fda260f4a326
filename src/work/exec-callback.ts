import type { Capture } from "../contract/session.ts";
import { terminalText } from "../present/terminal-text.ts";
import { readMergedSync } from "../session/logs/index.ts";
import { terminalStory } from "../session/terminal/sizes.ts";
import type { NewWorkItem } from "../store/work-item.ts";

const LINES = 5;
/** Enough for the last lines unless they are very long; those are cut (promise 6). */
const TAIL_BYTES = 64 * 1024;
const LONGEST_LINE = 2000;

export interface ExitedSession {
  id: string;
  exitCode: number | null;
  /** Where a person or an agent can read the whole output; null when there is no such file. */
  logPath: string | null;
  lastLines: string[];
}

/** Tells whoever takes the work that a background session has ended. One key per session: never told twice (promise 4). */
export function execCallback({ id, exitCode, logPath, lastLines }: ExitedSession): NewWorkItem {
  const head = { type: "EXEC_CALLBACK", priority: "HIGH" } as const;
  const payload = { ...head, session_id: id, exit_code: exitCode, log_path: logPath, last_lines: lastLines };
  return { key: `exec_callback:${id}`, ...head, payload };
}

/** The last lines of what an ended session wrote, both streams in order. An unreadable log has none. */
export function lastLines(folder: string, capture: Capture, count: number = LINES): string[] {
  const lines = tailOf(folder, capture).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.slice(-count).map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line));
}

function tailOf(folder: string, capture: Capture): string {
  try {
    const { text, omittedAt } = readMergedSync(folder, capture, TAIL_BYTES);
    const tail = omittedAt === null ? text : text.slice(omittedAt);
    return capture === "merged" && terminalStory(folder) !== null ? terminalText(tail) : tail;
  } catch {
    // The callback itself matters more than what it quotes.
    return "";
  }
}
