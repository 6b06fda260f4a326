/** Reads files that a command runs as code, so that policy is applied to their contents. */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { isWithin } from "./workspace.ts";

/** The maximum size of a file that is read. Larger text could not be analyzed. */
const MAX_BYTES = 128 << 10;

/**
 * Returns a function that reads text files in the workspace. Other files, files in denied paths, and files that are too
 * large are not read: what a verdict quotes is shown to the agent, which must not learn more than the command could.
 */
export function codeReader(workspace: string, denied: readonly string[]): (path: string) => string | null {
  return (path) => {
    try {
      const real = realpathSync.native(path);
      if (!isWithin(real, realpathSync.native(workspace)) || denied.some((one) => isWithin(real, one))) return null;
      return readText(real);
    } catch {
      // A file that cannot be read is unanalyzable.
      return null;
    }
  };
}

function readText(path: string): string | null {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const status = fstatSync(fd);
    if (!status.isFile() || status.size > MAX_BYTES) return null;
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    const length = readSync(fd, bytes, 0, bytes.length, 0);
    return length > MAX_BYTES ? null : bytes.toString("utf8", 0, length);
  } finally {
    closeSync(fd);
  }
}
