import { open } from "node:fs/promises";
import { dirname } from "node:path";
import type { Capture, StreamInfo, StreamName } from "../../core/session.ts";
import { closeFile, type LogFile, logFile, readAt, sizeOf } from "./log-file.ts";
import { closeTimeline, openTimeline, type Range, refreshHeader, type Timeline } from "./timeline.ts";

/** The maximum size of a piece of a log, so that memory use does not depend on the log's size. */
export const PIECE_BYTES = 256 * 1024;

/** The minimum number of bytes to read at a time, because interleaved streams consist of very short spans. */
const READ_AHEAD_BYTES = 64 * 1024;

/** The open files of one session. Stream 0 is `stdout` (or the only one, `output`), stream 1 is `stderr`. */
export interface SessionLog {
  readonly names: readonly StreamName[];
  readonly streams: readonly StreamReader[];
  readonly timeline: Timeline;
}

interface StreamReader {
  readonly file: LogFile;
  /** The bytes read last. The buffer is never reused, because returned pieces are views of it. */
  window: { offset: number; bytes: Buffer };
}

export function streamNames(capture: Capture): readonly StreamName[] {
  return capture === "merged" ? ["output"] : ["stdout", "stderr"];
}

export function openSessionLog(folder: string, capture: Capture): SessionLog {
  const names = streamNames(capture);
  return {
    names,
    streams: names.map((name) => ({
      file: logFile(`${folder}/${name}`),
      window: { offset: 0, bytes: Buffer.alloc(0) },
    })),
    timeline: openTimeline(`${folder}/timeline`),
  };
}

export function closeSessionLog(log: SessionLog): void {
  for (const stream of log.streams) closeFile(stream.file);
  closeTimeline(log.timeline);
}

function readerOf(log: SessionLog, stream: number): StreamReader {
  const reader = log.streams[stream];
  if (reader === undefined) throw new RangeError(`no stream ${stream}`);
  return reader;
}

/** Returns the number of bytes written to a stream; 0 for an unknown stream, which a corrupt timeline may name. */
export function streamSize(log: SessionLog, stream: number): number {
  const reader = log.streams[stream];
  return reader === undefined ? 0 : sizeOf(reader.file);
}

export function holeOf(log: SessionLog, stream: number): Range {
  return log.timeline.header.holes[stream === 0 ? 0 : 1];
}

/**
 * Reads at most `length` bytes of a stream from `offset`. Returns no bytes if `offset` is past the end or in a
 * hole. `holeOf` then reports the hole, even if it was punched during the read.
 */
export function readStream(log: SessionLog, stream: number, offset: number, length: number): Buffer {
  const reader = readerOf(log, stream);
  const { window } = reader;
  if (offset < window.offset || offset >= window.offset + window.bytes.length) {
    reader.window = { offset, bytes: readWindow(log, stream, offset, length) };
  }
  const start = offset - reader.window.offset;
  return reader.window.bytes.subarray(start, start + length);
}

function readWindow(log: SessionLog, stream: number, offset: number, length: number): Buffer {
  const reader = readerOf(log, stream);
  const available = sizeOf(reader.file) - offset;
  if (available <= 0) return Buffer.alloc(0);
  const bytes = Buffer.allocUnsafe(Math.min(available, PIECE_BYTES, Math.max(length, READ_AHEAD_BYTES)));
  const filled = readAt(reader.file, bytes, offset);
  // A hole is announced before it is punched, so only bytes outside the hole announced by now are known to be data.
  refreshHeader(log.timeline);
  const hole = holeOf(log, stream);
  if (hole.end <= offset || hole.end <= hole.start) return bytes.subarray(0, filled);
  return bytes.subarray(0, Math.max(0, Math.min(filled, hole.start - offset)));
}

/** Returns, for each stream, the bytes written, the punched range, and the bytes that could not be written. */
export function streamInfo(folder: string, capture: Capture): Partial<Record<StreamName, StreamInfo>> {
  const log = openSessionLog(folder, capture);
  try {
    const info: Partial<Record<StreamName, StreamInfo>> = {};
    for (const [stream, name] of log.names.entries()) {
      const bytes = streamSize(log, stream);
      const { start, end } = holeOf(log, stream);
      const droppedEnd = Math.min(end, bytes);
      const lost = log.timeline.header.lost[stream === 0 ? 0 : 1];
      info[name] = { bytes, droppedStart: Math.min(start, droppedEnd), droppedEnd, lost };
    }
    return info;
  } finally {
    closeSessionLog(log);
  }
}

/** Writes the output of a session to the disk, so that what a caller has read survives a power failure. */
export async function syncOutput(folder: string, capture: Capture): Promise<void> {
  for (const path of [...streamNames(capture).map((name) => `${folder}/${name}`), folder, dirname(folder)]) {
    const file = await open(path, "r").catch(() => null); // a command without output has no file
    await file?.sync().finally(() => file.close());
  }
}
