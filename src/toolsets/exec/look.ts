import { MODEL_BYTES } from "../../core/output-limits.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Session } from "../../session/session.ts";
import { forModel } from "../../text/for-model.ts";
import type { Answer } from "../define.ts";
import { readLines } from "../log-lines.ts";
import { noteOf } from "../note-of.ts";
import { withinBytes } from "../within-bytes.ts";
import { POLL_LINES } from "./schema.ts";
import { logText, sessionEntry } from "./text.ts";

/** What the three read-only tools answer, and process_manager in their place. */

export async function listSessions(gateway: Gateway, limit: number): Promise<Answer> {
  const { sessions, total, warnings } = await gateway.sessions({ limit });
  const listed = withinBytes(sessions.map(sessionEntry), MODEL_BYTES);
  return { structured: { sessions: listed, total, ...noteOf(warnings) } };
}

export async function pollSession(session: Session): Promise<Answer> {
  const info = session.info();
  const { text } = await session.logs({ tail: POLL_LINES, limit: MODEL_BYTES });
  const output = forModel(text).text;
  return { structured: { ...sessionEntry(info), running: info.status === "running", output } };
}

export async function logOfSession(session: Session, offset: number, limit: number): Promise<Answer> {
  const { text, total, from, next } = await readLines(session, offset, limit);
  const { id, logFile } = session.info();
  return {
    structured: { session_id: id, log_path: logFile, content: text, total, next_offset: next },
    text: logText(text, from, next, total),
  };
}
