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

const BIGGEST = 256 << 10;

export interface ConfigText {
  path: string;
  document: JsonDocument;
  sha256: string;
}

/** What a file's name stood for at a time; differs whenever its content may. */
export function stampOf(path: string): string {
  let status: BigIntStats | undefined;
  try {
    status = statSync(path, { throwIfNoEntry: false, bigint: true });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unreadable"; // reading it will say what is wrong
  }
  return status ? `${status.dev}:${status.ino}:${status.size}:${status.mtimeNs}:${status.ctimeNs}` : "none";
}

/** The operator's file: theirs or the system's, and nobody else can write it. Null: there is none. */
export function readOperatorFile(path: string): ConfigText | null {
  return read(path, (status) => {
    const uid = process.getuid?.();
    if (uid !== undefined && status.uid !== uid && status.uid !== 0) {
      throw configError(path, `belongs to another user (uid ${status.uid}); it must be yours or root's.`);
    }
    if ((status.mode & 0o002) !== 0) {
      throw configError(path, "can be written by everybody; take that away with `chmod o-w`.");
    }
  });
}

/** The workspace's file, which an agent may have put there: a regular file that really lies in the workspace. */
export function readWorkspaceFile(path: string, root: string): ConfigText | null {
  return read(path, (_, fd) => {
    // Asked of the open file, so that a link swapped after the look changes nothing.
    const real = process.platform === "linux" ? readlinkSync(`/proc/self/fd/${fd}`) : realpathSync.native(path);
    if (!isWithin(real, root)) throw configError(path, "is a link that leads out of the workspace.");
  });
}

function read(path: string, insist: (status: Stats, fd: number) => void): ConfigText | null {
  let fd: number;
  try {
    // Non-blocking: a pipe of that name must not hold up the start.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw configError(path, `cannot be read (${code ?? message}).`);
  }
  try {
    const status = fstatSync(fd);
    insist(status, fd);
    if (!status.isFile()) throw configError(path, "is not a regular file.");
    const bytes = Buffer.alloc(BIGGEST + 1);
    let length = 0;
    for (let n = -1; n !== 0 && length < bytes.length; length += n)
      n = readSync(fd, bytes, length, bytes.length - length, null);
    if (length > BIGGEST) throw configError(path, `is larger than ${BIGGEST} bytes.`);
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
    throw configError(path, "is not UTF-8 text.");
  }
  try {
    return readJson(text);
  } catch (error) {
    if (isJsonSyntaxError(error)) throw configError(path, `not JSON: ${error.message}.`, error.position);
    throw error;
  }
}
