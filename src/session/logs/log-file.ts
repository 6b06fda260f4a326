import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { outOfDescriptors } from "../../executor/errors.ts";

/**
 * A file that may not exist yet: a missing one is an empty one, looked for again at each use.
 *
 * Reads are synchronous on purpose. What is read was just written, so it lies in the page cache, where a read of
 * 64 KiB takes some 10 µs, while each trip through the thread pool costs 30 µs and more. Whoever reads
 * much lets others run in between (pace.ts).
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

/** Fills `into` from `offset` on, and says how much of it could be filled. */
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

/** Work done since others could run. */
export interface Pace {
  bytes: number;
}

/** Lets others run after each 256 KiB: reading is synchronous, and a log may have gigabytes. */
export async function yieldAfter(pace: Pace, bytes: number): Promise<void> {
  pace.bytes += bytes;
  if (pace.bytes < BYTES_PER_TURN) return;
  pace.bytes = 0;
  await setImmediate();
}
