import { MODEL_BYTES } from "../core/output-limits.ts";
import type { Session } from "../session/session.ts";
import { forModel } from "../text/for-model.ts";
import { LINE_CUT } from "./exec/text.ts";

export const DEFAULT_LINES = 200;
export const MOST_LINES = 5000;

const LONGEST_CHARACTER = 4;

interface LogLines {
  text: string;
  /** Lines there are. */
  total: number;
  /** Lines before the first that is given, and before the first that is not given any more. */
  from: number;
  next: number;
}

/** Of what a model takes at a time, so much is kept for the note about a line that is cut. */
const SLICE_BYTES = MODEL_BYTES - 200;

/** A slice of lines, read as a stream. A negative `offset` counts from the end. Never more than a model takes. */
export async function readLines(session: Session, offset: number, limit: number): Promise<LogLines> {
  const from = offset >= 0 ? offset : Math.max(0, (await countLines(session)) + offset);
  const slice = await session.logs({ stream: "merged", fromLine: from + 1, toLine: from + limit, limit: SLICE_BYTES });
  const total = slice.totalLines ?? 0;
  const asked = Math.max(0, Math.min(limit, total - from));
  const { text, lines } = wholeLines(slice.text, asked, from + asked === total);
  return {
    text: forModel(text, { maxBytes: MODEL_BYTES }).text,
    total,
    from: Math.min(from, total),
    next: Math.min(total, from + lines),
  };
}

/** Those that are whole; of one that is longer than a slice, its beginning. `toEnd`: the last may lack its line feed. */
function wholeLines(text: string, asked: number, toEnd: boolean): { text: string; lines: number } {
  const feeds = text.split("\n").length - 1;
  if (feeds >= asked || (toEnd && feeds === asked - 1 && Buffer.byteLength(text) < SLICE_BYTES - LONGEST_CHARACTER)) {
    return { text, lines: asked };
  }
  if (feeds > 0) return { text: text.slice(0, text.lastIndexOf("\n") + 1), lines: feeds };
  return { text: `${text}\n${LINE_CUT}`, lines: 1 };
}

async function countLines(session: Session): Promise<number> {
  return (await session.logs({ stream: "merged", fromLine: 1, toLine: 1, limit: 1 })).totalLines ?? 0;
}
