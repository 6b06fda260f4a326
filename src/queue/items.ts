import type { NewWorkItem } from "../storage/work-item.ts";

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
