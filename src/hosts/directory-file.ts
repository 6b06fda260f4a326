import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { callerTmpdir } from "../core/caller.ts";
import { quoteWord } from "../shell/quote.ts";

/** The longest path that Linux accepts, with a line break. */
const MAX_PATH_BYTES = 4097;

/** Returns shell text that writes the working directory to a file. It never fails. */
export function reportDirectory(file: string): string {
  return `{ { pwd -P >| ${quoteWord(file)}; } 2>/dev/null || :; }`;
}

/**
 * Returns the working directory that a command has reported, with links resolved, and removes the file. Null when there is
 * none. The command can write anything to the file, also a path with `..`, so callers check the result.
 */
export function takeReportedDirectory(file: string): string | null {
  const path = readSmallFile(file);
  rmSync(file, { force: true });
  const folder = path?.replace(/\n$/, "") ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a path with control characters is not carried over
  if (!folder.startsWith("/") || /[\x00-\x1f\x7f]/.test(folder)) return null;
  try {
    const real = realpathSync.native(folder);
    return statSync(real).isDirectory() ? real : null;
  } catch {
    return null; // does not exist, or cannot be accessed outside the sandbox
  }
}

function readSmallFile(file: string): string | null {
  let descriptor: number;
  try {
    // O_NONBLOCK, because opening a named pipe would wait for a writer.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const { size } = fstatSync(descriptor);
    if (!fstatSync(descriptor).isFile() || size > MAX_PATH_BYTES) return null;
    const bytes = Buffer.alloc(MAX_PATH_BYTES);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0)).toString();
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes a file where an agent host expects it. Does not follow a link, and replaces only a file of this user, because
 * the name is in a folder in which others can create files. Returns whether it was written.
 */
export function writeHostFile(file: string, content: string): boolean {
  let descriptor: number;
  try {
    const folder = dirname(file);
    const status = lstatSync(folder);
    const uid = process.getuid?.();
    const shared = folder === callerTmpdir() || folder === "/tmp";
    if (!shared && !(status.isDirectory() && status.uid === uid && (status.mode & 0o022) === 0)) return false;
    descriptor = openForHost(file, uid);
  } catch {
    return false;
  }
  try {
    return writeSync(descriptor, content) === Buffer.byteLength(content);
  } finally {
    closeSync(descriptor);
  }
}

function openForHost(file: string, uid: number | undefined): number {
  const flags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    return openSync(file, flags | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const status = lstatSync(file);
  if (!status.isFile() || status.uid !== uid || status.nlink !== 1)
    throw new Error(`${file} is not a file of this user`);
  return openSync(file, flags | constants.O_TRUNC);
}
