import { characterStart, readPage } from "../session/logs/reader.ts";
import type { Session, SessionOutput } from "../session/session.ts";
import { counted } from "../text/format.ts";
import { MODEL_BYTES } from "../text/output-limits.ts";
import type { HandlerCall } from "./define.ts";
import { screenText } from "./result-text.ts";

/** How long an answer to input waits for its effect: until the program ends, reads again or pauses its output. */
const SETTLE = { quietMs: 300, timeoutMs: 1500 };

/** Waits until input, or the start of a program on a terminal, has had its effect. */
export async function settle({ root, context: { signal } }: HandlerCall, session: Session): Promise<void> {
  const input = session.info().pty !== null;
  try {
    const settled = root.scoped().session(session.id);
    await settled.waitFor({ ...SETTLE, input, ...(signal ? { signal } : {}) });
  } catch {
    // The answer is about the input, which was sent even if the output may not be read.
  }
}

/**
 * Sends input and returns the output that follows it, which a later read returns as well. `hint` says how to read what
 * does not fit. Returns null where reading is not permitted.
 */
export async function outputAfterInput(
  call: HandlerCall,
  session: Session,
  send: () => Promise<void>,
  hint: string,
): Promise<string | null> {
  const source = await readable(call, session);
  const from = source && (await source.logs({ offset: 0, limit: 0 })).totalBytes;
  await send();
  await settle(call, session);
  return source === null || from === null ? null : outputSince(source, from, hint);
}

/** The session is read with the permission to send input, as the answer does not need another approval. */
async function readable({ root }: HandlerCall, { id }: Session): Promise<SessionOutput | null> {
  try {
    return await root.scoped().session(id).reading();
  } catch {
    return null;
  }
}

/** Returns the output from a position on. That of a full-screen program is its screen. */
export async function outputSince(source: SessionOutput, from: number, hint: string): Promise<string> {
  const start = await characterStart(source, undefined, from);
  const { text, unread, paintsScreen } = await readPage(source, { offset: start, maxBytes: MODEL_BYTES });
  if (paintsScreen && source.info().pty !== null) return screenText(await source.screen());
  return unread === 0 ? text : `${text}[… ${counted(unread, "byte")} more; read them with ${hint}]\n`;
}
