import { closeSync, constants, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";

/** The kernel looks no further for a `#!` line than this, and a loader's name lies within it too. */
const HEAD_BYTES = 4096;
const SHEBANG_BYTES = 256;

export interface Interpreter {
  path: string;
  kind: "script" | "loader";
  /** Its first line ends as lines do on Windows, and the kernel takes the carriage return for part of the name. */
  windowsLine: boolean;
}

/** What a file needs to be executed: the program of its `#!` line, or the loader of a dynamic ELF program. */
export function interpreterOf(file: string): Interpreter | null {
  const head = headOf(file);
  if (head === null) return null;
  if (head.toString("latin1", 0, 2) === "#!") {
    const [line = ""] = head.toString("utf8", 2, SHEBANG_BYTES).split("\n");
    const [path = ""] = line.trimStart().split(/[ \t\r]/);
    return path === "" ? null : { path, kind: "script", windowsLine: line.endsWith("\r") };
  }
  const path = loaderOf(head);
  return path === null ? null : { path, kind: "loader", windowsLine: false };
}

/** As the kernel would name it, so that a name with a carriage return does not exist. */
export function isMissing({ path, windowsLine }: Interpreter): boolean {
  return !existsSync(windowsLine ? `${path}\r` : path);
}

function headOf(file: string): Buffer | null {
  let fd: number | null = null;
  try {
    // Opening a device may do something, and opening a pipe waits for its writer, also one swapped in just now.
    if (!statSync(file).isFile()) return null;
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(fd).isFile()) return null;
    const head = Buffer.alloc(HEAD_BYTES);
    return head.subarray(0, readSync(fd, head, 0, HEAD_BYTES, 0));
  } catch {
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

const PT_INTERP = 3;

/** The PT_INTERP segment of a little-endian 64-bit ELF file. */
function loaderOf(head: Buffer): string | null {
  if (head.length < 64 || head.toString("latin1", 0, 6) !== "\x7fELF\x02\x01") return null;
  const table = Number(head.readBigUInt64LE(32));
  const size = head.readUInt16LE(54);
  const count = head.readUInt16LE(56);
  for (let index = 0; index < count && table + (index + 1) * size <= head.length && size >= 56; index++) {
    const at = table + index * size;
    if (head.readUInt32LE(at) !== PT_INTERP) continue;
    const from = Number(head.readBigUInt64LE(at + 8));
    const length = Number(head.readBigUInt64LE(at + 32));
    return from + length > head.length ? null : head.toString("utf8", from, from + length).replace(/\0+$/, "");
  }
  return null;
}
