import { homedir } from "node:os";
import { recall } from "../confine/remembered.ts";
import type { Ending, ExitRecord } from "../executor/executor.ts";
import { sandboxHints } from "../present/sandbox-hints.ts";
import type { SessionRow } from "../store/sessions.ts";
import { readTextSync } from "./logs/index.ts";

/** What a program says about its end is at the end. */
const TAIL_BYTES = 32 << 10;

type Asked = Pick<SessionRow, "cwd" | "capture" | "sandbox">;

/** Why the sandbox may have stopped a command that did not end well; `text` is what it said. */
export function hintsIn(
  text: string,
  { cwd, sandbox }: Pick<SessionRow, "cwd" | "sandbox">,
  record: ExitRecord,
): string[] {
  const failed = record.reason === "exited" && record.code !== 0;
  if (!failed || sandbox === null || text === "") return [];
  return sandboxHints(text, { sandbox: recall(sandbox), cwd, home: homedir() });
}

/** The same for a command whose words are only in its log; JSON, as its row keeps it. */
export function storedHints(row: Asked, ending: Ending, folder: string): string {
  if (ending === "lost" || ending.reason !== "exited" || ending.code === 0 || row.sandbox === null) return "[]";
  return JSON.stringify(hintsIn(tailOf(row, folder), row, ending));
}

function tailOf({ capture }: Asked, folder: string): string {
  try {
    return readTextSync(folder, capture === "merged" ? "output" : "stderr", TAIL_BYTES).text;
  } catch {
    return ""; // removed, or unreadable: an end is an end without hints too
  }
}
