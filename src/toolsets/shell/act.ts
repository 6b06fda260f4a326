import type { Session } from "../../session/session.ts";
import type { Answer } from "../define.ts";
import { endSession } from "../end-session.ts";
import { GRACE_MS } from "./schema.ts";
import { joined, outcomeOf, stateLine } from "./text.ts";

export function state(session: Session, more: Record<string, unknown> = {}): Answer {
  const info = session.info();
  return { structured: { ...outcomeOf(info), ...more }, text: stateLine(info) };
}

export async function write(session: Session, data: string, eof: boolean): Promise<Answer> {
  if (data !== "") await session.write(data);
  if (eof) await session.closeStdin();
  return state(session);
}

export async function extend(session: Session, seconds: number): Promise<Answer> {
  await session.extend(Math.ceil(seconds * 1000));
  return state(session);
}

export async function kill(session: Session, signal: string | undefined): Promise<Answer> {
  const killed = await endSession(session, { graceMs: GRACE_MS, ...(signal === undefined ? {} : { signal }) });
  return state(session, { killed });
}

/** `clear` forgets one that has ended; `remove` ends it first where it must. */
export async function remove(session: Session, force: boolean): Promise<Answer> {
  const before = state(session);
  await session.remove({ force });
  const text = joined([before.text ?? null, "It is removed, with its log."]);
  return { structured: { ...before.structured, removed: true }, text: force ? "Removed, with its log." : text };
}
