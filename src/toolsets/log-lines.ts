import { MODEL_BYTES } from "../present/caps.ts";
import { forModel } from "../present/for-model.ts";
import type { Session } from "../session/session.ts";

export const DEFAULT_LINES = 200;
export const MOST_LINES = 5000;

export interface LogLines {
  text: string;
  /** Lines there are. */
  total: number;
  /** Lines before the first that is given, and before the first that is not given any more. */
  from: number;
  next: number;
}

/** A slice of lines, read as a stream. A negative `offset` counts from the end. Never more than a model takes. */
export async function readLines(session: Session, offset: number, limit: number): Promise<LogLines> {
  const from = offset >= 0 ? offset : Math.max(0, (await countLines(session)) + offset);
  const slice = await session.logs({ stream: "merged", fromLine: from + 1, toLine: from + limit, limit: MODEL_BYTES });
  const total = slice.totalLines ?? 0;
  const lines = Math.max(0, Math.min(limit, total - from));
  const feeds = slice.text.split("\n").length - 1;
  // Cut by size: the last line is not whole, and comes again with the next slice unless it is all there was.
  const cut = feeds < lines && from + lines < total ? true : feeds < lines - 1;
  const whole = cut && feeds > 0 ? slice.text.slice(0, slice.text.lastIndexOf("\n") + 1) : slice.text;
  const given = cut ? Math.max(1, feeds) : lines;
  return { text: forModel(whole, { maxBytes: MODEL_BYTES }).text, total, from, next: Math.min(total, from + given) };
}

async function countLines(session: Session): Promise<number> {
  return (await session.logs({ stream: "merged", fromLine: 1, toLine: 1, limit: 1 })).totalLines ?? 0;
}
