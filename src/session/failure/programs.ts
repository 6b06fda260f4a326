import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  opendirSync,
  openSync,
  readSync,
  statSync,
} from "node:fs";
import { delimiter, join } from "node:path";

const MOST_FOLDERS = 64;
const MOST_NAMES = 20_000;
/** The maximum time for listing the programs on PATH, which may have folders on slow file systems. */
const LONGEST_MS = 100;

/** The context in which a program is looked up: the command's working directory and PATH. */
export interface LookupContext {
  cwd: string;
  path: string;
}

interface Listing {
  mtimeMs: number;
  names: string[];
}

const listings = new Map<string, Listing>();

/** Returns the entries of a PATH that are absolute paths. */
export function pathFolders(path: string): string[] {
  return path
    .split(delimiter)
    .filter((folder) => folder.startsWith("/"))
    .slice(0, MOST_FOLDERS);
}

/** Returns the names of all programs on a PATH. Folder listings are cached until the folder changes. */
export function programNames(path: string): Set<string> {
  const names = new Set<string>();
  const until = performance.now() + LONGEST_MS;
  for (const folder of pathFolders(path)) {
    if (names.size > MOST_NAMES || performance.now() > until) break;
    for (const name of namesIn(folder)) names.add(name);
  }
  return names;
}

/** Returns the names in a folder; none when it cannot be read. */
export function namesIn(folder: string): readonly string[] {
  try {
    const { mtimeMs } = statSync(folder);
    const known = listings.get(folder);
    if (known?.mtimeMs === mtimeMs) return known.names;
    const listing = { mtimeMs, names: firstNames(folder) };
    if (listings.size >= MOST_FOLDERS) listings.clear();
    listings.set(folder, listing);
    return listing.names;
  } catch {
    return [];
  }
}

/** Reads a bounded number of names: a folder of the workspace may have millions of entries. */
function firstNames(folder: string): string[] {
  const names: string[] = [];
  const open = opendirSync(folder, { bufferSize: 1024 });
  try {
    for (let entry = open.readSync(); entry !== null && names.length < MOST_NAMES; entry = open.readSync()) {
      names.push(entry.name);
    }
  } finally {
    open.closeSync();
  }
  return names;
}

/** Returns the path of an executable program on PATH, or null when there is none. */
export function findProgram(name: string, path: string): string | null {
  for (const folder of pathFolders(path)) {
    const file = join(folder, name);
    if (isProgram(file)) return file;
  }
  return null;
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The number of bytes read from the start of a file, which contain the loader name of an ELF file or the `#!` line. */
const HEAD_BYTES = 4096;
/** The maximum number of bytes of a `#!` line that the kernel reads. */
const SHEBANG_BYTES = 256;

export interface Interpreter {
  path: string;
  kind: "script" | "loader";
  /** True when the `#!` line ends in CR LF. The kernel treats the carriage return as part of the interpreter's name. */
  windowsLine: boolean;
}

/** Returns the interpreter of a `#!` line, or the loader of a dynamically linked ELF program. */
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

/** Reports whether the interpreter does not exist under the name that the kernel uses, carriage return included. */
export function isMissing({ path, windowsLine }: Interpreter): boolean {
  return !existsSync(windowsLine ? `${path}\r` : path);
}

function headOf(file: string): Buffer | null {
  let fd: number | null = null;
  try {
    // Opening a device can have side effects, and opening a FIFO blocks. The file may be replaced after the first
    // check, so it is opened with O_NONBLOCK and checked again.
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

/** Returns the PT_INTERP segment of a little-endian 64-bit ELF file. */
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
