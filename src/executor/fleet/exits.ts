import { insist, isTaken } from "./book.ts";
import type { Link } from "./link.ts";
import type { ExitNotice } from "./wire.ts";

export interface Told {
  id: string;
  agent: string;
  /** Null: no worker ever had it. */
  host: string | null;
  status: string;
  exitCode: number | null;
  logPath: string | null;
  lastLines: string[];
}

/** Stands where a host would, in the subject of a session that none ever had. */
const NO_HOST = "none";

/**
 * Puts the end of a background session into the stream of exits: once, whoever tells of it and however often. The
 * stream refuses a second message of the same session, and an answer that never came may have been a yes (promise 4).
 */
export async function announceExit(link: Link, told: Told): Promise<void> {
  const notice: ExitNotice = {
    type: "EXEC_CALLBACK",
    session_id: told.id,
    agent: told.agent,
    host: told.host,
    status: told.status,
    exit_code: told.exitCode,
    log_path: told.logPath,
    last_lines: told.lastLines,
    ended_ms: Date.now(),
  };
  const subject = link.subjects.exit(told.host ?? NO_HOST, told.agent, told.id);
  const options = { msgID: told.id, expect: { lastSubjectSequence: 0 } };
  await insist(async () => {
    try {
      await link.js.publish(subject, JSON.stringify(notice), options);
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  });
}
