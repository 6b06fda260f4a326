import { createHash } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { isWithin } from "../sandbox/workspace.ts";
import { configError } from "./errors.ts";
import { isJsonSyntaxError, type JsonDocument, readJson } from "./json.ts";

const MAX_BYTES = 256 << 10;

export interface ConfigText {
  path: string;
  document: JsonDocument;
  sha256: string;
}

/** Returns a fingerprint of the file at this path, which changes whenever its content may have changed. */
export function stampOf(path: string): string {
  let status: BigIntStats | undefined;
  try {
    status = statSync(path, { throwIfNoEntry: false, bigint: true });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unreadable"; // reading the file will report the error
  }
  return status ? `${status.dev}:${status.ino}:${status.size}:${status.mtimeNs}:${status.ctimeNs}` : "none";
}

/**
 * Reads the operator file, which must be owned by this user or root and must not be world-writable. Null when the file
 * does not exist.
 */
export function readOperatorFile(path: string): ConfigText | null {
  return read(path, (status) => {
    const uid = process.getuid?.();
    if (uid !== undefined && status.uid !== uid && status.uid !== 0) {
      throw configError(
        path,
        `the file is owned by another user (uid ${status.uid}); it must be owned by you or by root.`,
      );
    }
    if ((status.mode & 0o002) !== 0) {
      throw configError(path, "the file is world-writable; remove that permission with `chmod o-w`.");
    }
  });
}

/**
 * Reads the workspace file, which an agent may have written. It must be a regular file inside the workspace. Null when
 * the file does not exist.
 */
export function readWorkspaceFile(path: string, root: string): ConfigText | null {
  return read(path, (_, fd) => {
    // Resolves the open descriptor instead of the path, so that swapping a link after the check has no effect.
    const real = process.platform === "linux" ? readlinkSync(`/proc/self/fd/${fd}`) : realpathSync.native(path);
    if (!isWithin(real, root))
      throw configError(path, "the file is a symbolic link to a location outside the workspace.");
  });
}

function read(path: string, check: (status: Stats, fd: number) => void): ConfigText | null {
  let fd: number;
  try {
    // Non-blocking, so that a named pipe at this path does not block the start.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw configError(path, `the file cannot be read (${code ?? message}).`);
  }
  try {
    const status = fstatSync(fd);
    check(status, fd);
    if (!status.isFile()) throw configError(path, "this is not a regular file.");
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let n = -1; n !== 0 && length < bytes.length; length += n)
      n = readSync(fd, bytes, length, bytes.length - length, null);
    if (length > MAX_BYTES) throw configError(path, `the file is larger than ${MAX_BYTES >> 10} KiB.`);
    const content = bytes.subarray(0, length);
    return { path, document: parse(path, content), sha256: createHash("sha256").update(content).digest("hex") };
  } finally {
    closeSync(fd);
  }
}

function parse(path: string, content: Buffer): JsonDocument {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw configError(path, "the file is not valid UTF-8.");
  }
  try {
    return readJson(text);
  } catch (error) {
    if (isJsonSyntaxError(error))
      throw configError(path, `the file is not valid JSON: ${error.message}.`, error.position);
    throw error;
  }
}
