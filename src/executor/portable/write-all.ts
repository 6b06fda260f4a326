import { writeSync } from "node:fs";

/** Writes the bytes and returns the number of bytes written, which is less than requested on a full disk. */
export function writeAll(fd: number, bytes: Uint8Array, offset: number): number {
  let written = 0;
  try {
    while (written < bytes.length) {
      written += writeSync(fd, bytes, written, bytes.length - written, offset + written);
    }
  } catch {
    // The disk is full, or the file has reached a size limit.
  }
  return written;
}
