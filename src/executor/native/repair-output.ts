import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Capture, StreamInfo } from "../../core/session.ts";
import type { ExitRecord } from "../execution.ts";
import { rewriteExitRecord } from "./exit-record.ts";

const CHUNK = 64 << 10;

/**
 * Cuts the output of a session at its last true byte, after a restart of the machine. A file system may have stored less
 * than the command wrote, or NULs in place of the last bytes. Missing bytes are counted as lost in the exit record
 * (invariant 4). Returns the record that then applies, or null if there is none.
 */
export function repairOutput(folder: string, capture: Capture, record: ExitRecord | null): ExitRecord | null {
  const names = capture === "merged" ? ["output"] : ["stdout", "stderr"];
  if (record === null) {
    for (const name of names) cutAfterLastByte(join(folder, name), 0, 0);
    return null;
  }
  const streams = record.streams.map((stream, index) => {
    const name = names[index];
    return name === undefined ? stream : repaired(join(folder, name), stream, record.nuls?.[index] ?? 0);
  });
  if (streams.every((stream, index) => stream === record.streams[index])) return record;
  const repairedRecord = { ...record, streams };
  rewriteExitRecord(folder, repairedRecord);
  return repairedRecord;
}

function repaired(path: string, stream: StreamInfo, nuls: number): StreamInfo {
  if (stream.bytes === 0) return stream;
  const bytes = Math.min(stream.bytes, cutAfterLastByte(path, stream.droppedEnd, nuls, stream.bytes));
  if (bytes === stream.bytes) return stream;
  const within = (offset: number) => Math.min(offset, bytes);
  return {
    bytes,
    droppedStart: within(stream.droppedStart),
    droppedEnd: within(stream.droppedEnd),
    lost: stream.lost + stream.bytes - bytes,
  };
}

/**
 * Truncates a file after its last byte that is not NUL, or `nuls` bytes later if the file has its whole size `expected`.
 * Returns the new size. Bytes before `from` are kept.
 */
function cutAfterLastByte(path: string, from: number, nuls: number, expected?: number): number {
  let file: number;
  try {
    file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW);
  } catch {
    return 0; // the file is not on the disk
  }
  try {
    const { size } = fstatSync(file);
    const end = endOfData(file, from, size);
    const kept = Math.min(size, size === expected ? end + nuls : end);
    if (kept < size) ftruncateSync(file, kept);
    return kept;
  } finally {
    closeSync(file);
  }
}

function endOfData(file: number, from: number, size: number): number {
  const bytes = Buffer.allocUnsafe(Math.min(CHUNK, Math.max(0, size - from)));
  for (let end = size; end > from; ) {
    const start = Math.max(from, end - CHUNK);
    const filled = readSync(file, bytes, 0, end - start, start);
    for (let at = filled; at > 0; at--) if (bytes[at - 1] !== 0) return start + at;
    end = start;
  }
  return Math.min(from, size);
}
