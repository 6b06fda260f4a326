import type { ClaimedItem, NewWorkItem } from "../storage/work.ts";

interface ExitedSession {
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

/** Null: it arrived. Otherwise why it did not. */
export type DeliveryFailure = string | null;

/** What receives an item, whichever way. The same key means the same item: it may come more than once. */
export function deliveryBody({ id, key, type, priority, payload, createdAt, attempts }: ClaimedItem): string {
  return JSON.stringify({ id, key, type, priority, payload, createdAt, attempts });
}
