import { SallyportError } from "../core/error.ts";
import type { KillOptions, LogSlice } from "../core/gateway.ts";
import { MODEL_BYTES } from "../core/output-limits.ts";
import type { RunResult } from "../core/result.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Session } from "../session/session.ts";
import { forModel } from "../text/model-output.ts";
import { LINE_CUT } from "./result-text.ts";

/** The maximum number of read positions. Older ones are dropped; their sessions are read from the beginning again. */
const MAX_POSITIONS = 10_000;

const LINE_FEED = 0x0a;

/** Read positions in bytes by gateway, then by reader and session. */
const positions = new WeakMap<Gateway, Map<string, number>>();

interface Unread extends LogSlice {
  /** Bytes that were skipped because more than `buffer` bytes were unread. */
  skipped: number;
  /** Bytes that are still unread after this read. */
  left: number;
}

interface UnreadOptions {
  /** The name of the position, so that tools that read the same session do not consume each other's output. */
  reader: string;
  /** Maximum bytes per read. */
  page: number;
  /** Maximum unread bytes; older output is skipped. */
  buffer: number;
  /** True to leave an incomplete line for the next read. */
  wholeLines?: boolean;
}

/** Reads the output since the reader's last call. */
export async function readUnread(root: Gateway, session: Session, options: UnreadOptions): Promise<Unread> {
  const { reader, page, buffer, wholeLines = false } = options;
  const own = positionsOf(root);
  const key = keyOf(reader, session.id);
  const at = own.get(key) ?? 0;
  let offset = at;
  let slice = await session.logs({ stream: "merged", offset, limit: page });
  if (slice.totalBytes - offset > buffer) {
    offset = slice.totalBytes - buffer;
    slice = await session.logs({ stream: "merged", offset, limit: page });
  }
  const bytes = Buffer.concat(slice.chunks.map((chunk) => chunk.bytes));
  const end = wholeLines ? bytes.lastIndexOf(LINE_FEED) + 1 || fullPage(bytes, page) : bytes.length;
  const text = end === bytes.length ? slice.text : bytes.toString("utf8", 0, end);
  const nextOffset = slice.nextOffset - (bytes.length - end);
  remember(own, key, nextOffset);
  return { ...slice, text, nextOffset, skipped: offset - at, left: Math.max(0, slice.totalBytes - nextOffset) };
}

/** Marks the output of a foreground result as read: the next read continues after it. */
export function markRead(root: Gateway, reader: string, { id, output, truncated }: RunResult): void {
  // The bytes of replaced invalid UTF-8 cannot be counted. Repeating output is better than losing some.
  if (!output.includes("\ufffd")) {
    remember(positionsOf(root), keyOf(reader, id), Buffer.byteLength(output) + truncated.stdout + truncated.stderr);
  }
}

function positionsOf(root: Gateway): Map<string, number> {
  const own = positions.get(root) ?? new Map<string, number>();
  positions.set(root, own);
  return own;
}

function keyOf(reader: string, id: string): string {
  return `${reader} ${id}`;
}

/** Returns how much of an incomplete line to read: all of it if it fills half a page, otherwise nothing. */
function fullPage(bytes: Buffer, page: number): number {
  return bytes.length >= page / 2 ? bytes.length : 0;
}

function remember(own: Map<string, number>, key: string, offset: number): void {
  own.delete(key);
  own.set(key, offset);
  const [oldest] = own.keys();
  if (own.size > MAX_POSITIONS && oldest !== undefined) own.delete(oldest);
}

export const DEFAULT_LINES = 200;
export const MAX_LINES = 5000;
const MAX_CHARACTER_BYTES = 4;

interface LogLines {
  text: string;
  /** Number of lines in the log. */
  total: number;
  /** Index of the first line in `text`; `next` is the index of the first line after it. */
  from: number;
  next: number;
}

/** The size of a slice, which leaves space for the note about a truncated line. */
const SLICE_BYTES = MODEL_BYTES - 200;

/** Reads up to `limit` lines and `MODEL_BYTES` bytes. A negative `offset` counts from the end. */
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

/**
 * Returns the complete lines of `text`, or the beginning of the first line when none is complete. With `toEnd`, the
 * last line counts as complete without its line feed.
 */
function wholeLines(text: string, asked: number, toEnd: boolean): { text: string; lines: number } {
  const feeds = text.split("\n").length - 1;
  if (feeds >= asked || (toEnd && feeds === asked - 1 && Buffer.byteLength(text) < SLICE_BYTES - MAX_CHARACTER_BYTES)) {
    return { text, lines: asked };
  }
  if (feeds > 0) return { text: text.slice(0, text.lastIndexOf("\n") + 1), lines: feeds };
  return { text: `${text}\n${LINE_CUT}`, lines: 1 };
}

async function countLines(session: Session): Promise<number> {
  return (await session.logs({ stream: "merged", fromLine: 1, toLine: 1, limit: 1 })).totalLines ?? 0;
}

/** Terminates a session. Returns false when it had already ended. */
export async function endSession(session: Session, options: KillOptions = {}): Promise<boolean> {
  try {
    await session.kill(options);
    return true;
  } catch (error) {
    if (error instanceof SallyportError && error.type === "AlreadyExited") return false;
    throw error;
  }
}
