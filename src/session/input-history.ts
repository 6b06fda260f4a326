/**
 * The input that the interpreter of a session has received. A command can be spread over several lines and several
 * writes, from several processes, so the recent input is kept in the session's folder.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = "input";
/** The size up to which complete lines are kept. Older lines are dropped first (invariant 6). */
const MAX_LINES = 16 << 10;
/** The size up to which an incomplete line is kept. */
export const MAX_PENDING = 64 << 10;
const MAX_SESSIONS = 1000;
const NEWLINE = 0x0a;

export interface InputHistory {
  /** Complete lines. */
  lines: Buffer;
  /** The beginning of a line that is not complete yet. */
  pending: Buffer;
}

/** The input of sessions whose folder is on another machine, or cannot be written. */
const elsewhere = new Map<string, Buffer>();

export function readInputHistory(folder: string): InputHistory {
  const bytes = elsewhere.get(folder) ?? readBytes(folder);
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  return { lines: bytes.subarray(0, end), pending: bytes.subarray(end) };
}

function readBytes(folder: string): Buffer {
  try {
    return readFileSync(join(folder, FILE));
  } catch {
    return Buffer.alloc(0);
  }
}

/** Replaces the history. `lines` must be empty or end with a newline. */
export function writeInputHistory(folder: string, { lines, pending }: InputHistory): void {
  const from = Math.max(0, lines.length - MAX_LINES);
  const start = from === 0 ? 0 : lines.indexOf(NEWLINE, from - 1) + 1;
  const bytes = Buffer.concat([lines.subarray(start), pending.subarray(-MAX_PENDING)]);
  try {
    if (elsewhere.has(folder)) throw new Error("kept in memory");
    writeFileSync(join(folder, FILE), bytes, { mode: 0o600 });
  } catch {
    if (elsewhere.size >= MAX_SESSIONS) elsewhere.delete(elsewhere.keys().next().value as string);
    elsewhere.set(folder, bytes);
  }
}
