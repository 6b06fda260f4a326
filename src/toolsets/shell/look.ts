import { MODEL_BYTES } from "../../core/output-limits.ts";
import type { Session } from "../../session/session.ts";
import { forModel } from "../../text/for-model.ts";
import { lastLine } from "../../text/last-line.ts";
import type { Answer, Call } from "../define.ts";
import { logText } from "../exec/text.ts";
import { readLines } from "../log-lines.ts";
import { noteOf } from "../note-of.ts";
import { readUnread } from "../unread.ts";
import { withinBytes } from "../within-bytes.ts";
import { READER } from "./schema.ts";
import { outcomeOf, pollText } from "./text.ts";

const LAST_LINE_BYTES = 4096;
/** What waits to be polled at most; older output is in the log. */
const POLL_BUFFER = 1 << 20;

export async function list({ gateway }: Call, limit: number): Promise<Answer> {
  const found = await gateway.sessions({ limit });
  const sessions = await Promise.all(
    found.sessions.map(async (info) => {
      // Another gateway's is looked into when somebody asks for it: not every worker with every list.
      const own = info.gateway === null ? gateway.session(info.id) : null;
      const last = await own?.logs({ tail: 1, limit: LAST_LINE_BYTES });
      return { ...outcomeOf(info), tail: lastLine(last?.text ?? "") };
    }),
  );
  const { total, warnings } = found;
  return { structured: { sessions: withinBytes(sessions, MODEL_BYTES), total, ...noteOf(warnings) } };
}

/** What is new since the last poll. */
export async function poll({ root }: Call, session: Session): Promise<Answer> {
  // Before the output: what ends in between is told with the next poll, and nothing is missed.
  const info = session.info();
  const unread = await readUnread(root, session, { reader: READER, page: MODEL_BYTES, buffer: POLL_BUFFER });
  const output = forModel(unread.text, {
    maxBytes: MODEL_BYTES,
    ...(unread.skipped > 0 ? { omittedBytes: unread.skipped, omittedAt: 0, hint: "process action=log" } : {}),
  }).text;
  return {
    structured: { ...outcomeOf(info), output, unread_bytes: unread.left },
    text: pollText(output, info, unread.left),
  };
}

/** A slice of lines; the last ones where no offset is named. */
export async function log(session: Session, offset: number | undefined, limit: number): Promise<Answer> {
  const { text, total, from, next } = await readLines(session, offset ?? -limit, limit);
  return {
    structured: { ...outcomeOf(session.info()), output: text, total, next_offset: next },
    text: logText(text, from, next, total),
  };
}
