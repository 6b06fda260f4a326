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
/** A folder on a slow disk (a network mount, the other system's) is not waited for again and again. */
const LONGEST_MS = 100;

/** Where a command was to run: its working directory, and the PATH on which its name was looked up. */
export interface LookupContext {
  cwd: string;
  path: string;
}

interface Listing {
  mtimeMs: number;
  names: string[];
}

const listings = new Map<string, Listing>();

/** Folders of a PATH that mean the same wherever one stands. */
export function pathFolders(path: string): string[] {
  return path
    .split(delimiter)
    .filter((folder) => folder.startsWith("/"))
    .slice(0, MOST_FOLDERS);
}

/** The names of all programs on a PATH; listed again only where a folder has changed. */
export function programNames(path: string): Set<string> {
  const names = new Set<string>();
  const until = performance.now() + LONGEST_MS;
  for (const folder of pathFolders(path)) {
    if (names.size > MOST_NAMES || performance.now() > until) break;
    for (const name of namesIn(folder)) names.add(name);
  }
  return names;
}

/** Names in a folder, none when it cannot be read. */
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

/** A workspace's folder may hold millions: no more than are looked at are read. */
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

/** Where on a PATH a program is that may be executed; null: nowhere. */
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
