import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { outOfDescriptors } from "../../executor/errors.ts";

/**
 * A file that may not exist yet. A missing file reads as empty, and every use tries to open it again.
 *
 * Reads are synchronous on purpose: logs are mostly in the page cache, where a read of 64 KiB takes about 10 µs, while
 * each trip through the thread pool costs 30 µs or more. Long reads call `yieldAfter`.
 */
export interface LogFile {
  readonly path: string;
  fd: number | null;
}

export function logFile(path: string): LogFile {
  return { path, fd: null };
}

function descriptorOf(file: LogFile): number | null {
  if (file.fd !== null) return file.fd;
  try {
    file.fd = openSync(file.path, "r");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EMFILE" || code === "ENFILE") throw outOfDescriptors(file.path);
    if (code !== "ENOENT") throw error;
  }
  return file.fd;
}

export function sizeOf(file: LogFile): number {
  const fd = descriptorOf(file);
  return fd === null ? 0 : fstatSync(fd).size;
}

/** Reads from `offset` into `into`. Returns the number of bytes read. */
export function readAt(file: LogFile, into: Uint8Array, offset: number): number {
  const fd = descriptorOf(file);
  if (fd === null) return 0;
  let filled = 0;
  while (filled < into.length) {
    const count = readSync(fd, into, filled, into.length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

export function closeFile(file: LogFile): void {
  if (file.fd === null) return;
  closeSync(file.fd);
  file.fd = null;
}

const BYTES_PER_TURN = 256 * 1024;

/** The bytes read since the last yield to the event loop. */
export interface Pace {
  bytes: number;
}

/** Yields to the event loop after each 256 KiB: reading is synchronous, and a log may be gigabytes long. */
export async function yieldAfter(pace: Pace, bytes: number): Promise<void> {
  pace.bytes += bytes;
  if (pace.bytes < BYTES_PER_TURN) return;
  pace.bytes = 0;
  await setImmediate();
}
