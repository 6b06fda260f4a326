import { ftruncateSync, readSync, writeSync } from "node:fs";

/** Everything of a file from `offset` on, into `bytes`. */
function readAll(fd: number, bytes: Buffer, offset: number): Buffer {
  let filled = 0;
  while (filled < bytes.length) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

/** How many of `bytes` reached the file at `offset`; the disk may be full. */
export function writeAll(fd: number, bytes: Uint8Array, offset: number): number {
  let written = 0;
  try {
    while (written < bytes.length) {
      written += writeSync(fd, bytes, written, bytes.length - written, offset + written);
    }
  } catch {
    // A full disk, or a file that may not grow: the caller counts what is missing.
  }
  return written;
}

/**
 * Frees [start, end) of a file of `size` bytes and leaves all that follows at its offset. Node cannot punch holes: the
 * file is cut off at `start` and its tail written again behind the gap, which takes no room on disk where files may be
 * sparse. For that moment readers find the file shorter, never wrong bytes in it. Returns how long it is then.
 */
export function dropMiddle(fd: number, start: number, end: number, size: number): number {
  const tail = readAll(fd, Buffer.allocUnsafe(size - end), end);
  ftruncateSync(fd, start);
  const written = writeAll(fd, tail, end);
  return written === 0 ? start : end + written;
}
