import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** The size up to which files of git are read. A command can create files of any size and type in their place. */
const MAX_BYTES = 64 << 10;
/** Without O_NONBLOCK, opening a FIFO would wait for a writer. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface SmallFile {
  text: string;
  uid: number;
}

/** Reads a regular file. Returns null for symbolic links, other types, large files, and files that cannot be read. */
export function readSmallFile(path: string, maxBytes = MAX_BYTES): SmallFile | null {
  let fd: number;
  try {
    fd = openSync(path, FLAGS);
  } catch {
    return null;
  }
  try {
    const found = fstatSync(fd);
    if (!found.isFile() || found.size > maxBytes) return null;
    const bytes = Buffer.alloc(found.size);
    return { text: bytes.toString("utf8", 0, readSync(fd, bytes, 0, found.size, 0)), uid: found.uid };
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}
