import { setTimeout as sleep } from "node:timers/promises";
import type { Link } from "./connection.ts";
import { insist, isRefused, isTaken } from "./connection.ts";
import type { ExitNotice } from "./wire.ts";

interface Told {
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
/** Between two rounds of asking while the servers give no answer. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;

/**
 * The same until the stream has it, however long the servers take. False: it never will, since they will not have it,
 * or `isOff` says that telling it is another's by now.
 */
export async function announceSurely(link: Link, told: Told, isOff: () => boolean): Promise<boolean> {
  for (let pause = FIRST_PAUSE_MS; !isOff(); pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      await announceExit(link, told);
      return true;
    } catch (error) {
      if (isRefused(error)) return false;
      await sleep(pause, undefined, { ref: false });
    }
  }
  return false;
}

/**
 * Puts the end of a background session into the stream of exits: once, whoever tells of it and however often. The
 * stream refuses a second message of the same session, and an answer that never came may have been a yes (promise 4).
 */
async function announceExit(link: Link, told: Told): Promise<void> {
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
