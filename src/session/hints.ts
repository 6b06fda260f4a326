import { homedir } from "node:os";
import type { Ending, ExitRecord } from "../executor/executor.ts";
import type { SessionData } from "../executor/session-data.ts";
import { sandboxHints } from "../sandbox/hints.ts";
import { recall } from "../sandbox/remembered.ts";
import type { SessionRow } from "../storage/sessions.ts";

/** What a program says about its end is at the end. */
const TAIL_BYTES = 32 << 10;

type Asked = Pick<SessionRow, "cwd" | "sandbox">;

/** Why the sandbox may have stopped a command that did not end well; `text` is what it said. */
export function hintsIn(text: string, { cwd, sandbox }: Asked, record: ExitRecord): string[] {
  const failed = record.reason === "exited" && record.code !== 0;
  if (!failed || sandbox === null || text === "") return [];
  return sandboxHints(text, { sandbox: recall(sandbox), cwd, home: homedir() });
}

/** The same for a command whose words are only in its log; JSON, as its row keeps it. */
export function storedHints(row: Asked, ending: Ending, data: SessionData): string {
  if (ending === "lost" || ending.account || ending.reason !== "exited" || ending.code === 0 || row.sandbox === null)
    return "[]";
  return JSON.stringify(hintsIn(complaintIn(data), row, ending));
}

function complaintIn(data: SessionData): string {
  try {
    return data.complaint(TAIL_BYTES);
  } catch {
    return ""; // removed, or unreadable: an end is an end without hints too
  }
}
