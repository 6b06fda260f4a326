import type { ClaimedItem, NewWorkItem } from "../storage/work.ts";

interface ExitedSession {
  id: string;
  status: string;
  /** As `process_poll` reports it. */
  exitCode: number | null;
  /** The path of a file with the whole output. Null when there is none. */
  logPath: string | null;
  lastLines: string[];
}

/** Returns the work item for a background session that has ended. Its key makes it unique per session (invariant 4). */
export function execCallback({ id, status, exitCode, logPath, lastLines }: ExitedSession): NewWorkItem {
  const head = { type: "EXEC_CALLBACK", priority: "HIGH" } as const;
  const payload = { ...head, session_id: id, status, exit_code: exitCode, log_path: logPath, last_lines: lastLines };
  return { key: `exec_callback:${id}`, ...head, payload };
}

/** Why a delivery failed. Null when it succeeded. */
export type DeliveryFailure = string | null;

/** Returns the JSON that receivers get. An item can be delivered more than once; its `key` identifies it. */
export function deliveryBody({ id, key, type, priority, payload, createdAt, attempts }: ClaimedItem): string {
  return JSON.stringify({ id, key, type, priority, payload, createdAt, attempts });
}
