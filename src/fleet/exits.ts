import { setTimeout as sleep } from "node:timers/promises";
import type { FleetConnection } from "./connection.ts";
import { isConflict, isRejected, withRetry } from "./connection.ts";
import type { ExitNotice } from "./wire.ts";

interface SessionExit {
  id: string;
  agent: string;
  /** Null when no worker has claimed the session. */
  host: string | null;
  status: string;
  exitCode: number | null;
  logPath: string | null;
  lastLines: string[];
}

/** The host token in the subject of a session that no worker has claimed. */
const NO_HOST = "none";
/** Delays between attempts while the servers do not respond. */
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 5000;

/**
 * Publishes the end of a background session to the exit stream, and retries until the servers respond. Returns false
 * when the servers reject it or `isCancelled` returns true.
 */
export async function publishExit(
  connection: FleetConnection,
  exit: SessionExit,
  isCancelled: () => boolean,
): Promise<boolean> {
  for (let delay = FIRST_DELAY_MS; !isCancelled(); delay = Math.min(delay * 2, LONGEST_DELAY_MS)) {
    try {
      await publishOnce(connection, exit);
      return true;
    } catch (error) {
      if (isRejected(error)) return false;
      await sleep(delay, undefined, { ref: false });
    }
  }
  return false;
}

/**
 * Publishes the exit if the stream has none for this session yet. A conflict counts as success, because an earlier
 * attempt may have been stored although its acknowledgement was lost (invariant 4).
 */
async function publishOnce(connection: FleetConnection, exit: SessionExit): Promise<void> {
  const notice: ExitNotice = {
    type: "EXEC_CALLBACK",
    session_id: exit.id,
    agent: exit.agent,
    host: exit.host,
    status: exit.status,
    exit_code: exit.exitCode,
    log_path: exit.logPath,
    last_lines: exit.lastLines,
    ended_ms: Date.now(),
  };
  const subject = connection.subjects.exit(exit.host ?? NO_HOST, exit.agent, exit.id);
  const options = { msgID: exit.id, expect: { lastSubjectSequence: 0 } };
  await withRetry(async () => {
    try {
      await connection.js.publish(subject, JSON.stringify(notice), options);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  });
}
