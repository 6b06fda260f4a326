import type { LogSlice } from "../core/gateway.ts";
import type { RunResult } from "../core/result.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Session } from "../session/session.ts";

/** Positions of so many sessions are remembered; of one that is forgotten, all is new again. */
const MOST_POSITIONS = 10_000;

const LINE_FEED = 0x0a;

/** How far each session was read, per gateway and reader. */
const positions = new WeakMap<Gateway, Map<string, number>>();

interface Unread extends LogSlice {
  /** Bytes that were skipped because too much had come together. */
  skipped: number;
  /** Bytes that are still unread after this. */
  left: number;
}

interface UnreadOptions {
  /** Whose position it is: two tools that read the same session do not take each other's output away. */
  reader: string;
  /** Bytes given at a time. */
  page: number;
  /** Bytes that wait for the reader at most; older ones are passed over. */
  buffer: number;
  /** A line that has not ended yet is left for the next time, where there is one. */
  wholeLines?: boolean;
}

/** What a session wrote since the same reader last asked, in order. */
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

/** What a running command's caller has seen of it already: the next read goes on from there. */
export function markRead(root: Gateway, reader: string, { id, output, truncated }: RunResult): void {
  // Bytes that are no text cannot be counted in a text any more: better to give them again than to lose any.
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

/** A line longer than a page has to be given in parts; a shorter one can wait for its end. */
function fullPage(bytes: Buffer, page: number): number {
  return bytes.length >= page / 2 ? bytes.length : 0;
}

function remember(own: Map<string, number>, key: string, offset: number): void {
  own.delete(key);
  own.set(key, offset);
  const [oldest] = own.keys();
  if (own.size > MOST_POSITIONS && oldest !== undefined) own.delete(oldest);
}
