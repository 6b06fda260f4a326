import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";

/** The size up to which an index is read, about 500,000 files. */
const MAX_BYTES = 64 << 20;
const MAX_LINKS = 200;
const MAX_CACHED = 100;
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The mode of a submodule in an index (gitformat-index(5)). */
const GITLINK = 0o160000;
const GITLINK_BYTES = Buffer.from([0, 0, GITLINK >> 8, 0]);
const HEADER_BYTES = 12;
const MODE_OFFSET = 24;
const HASH_OFFSET = 40;
const EXTENDED = 0x4000;

/** The gitlinks of an index file, by path and version of the file. */
const cache = new Map<string, { version: string; links: string[] }>();

/**
 * Returns the paths of submodules in the index of a git directory, relative to its working tree. `git status` runs git
 * in them, wherever they are.
 */
export function gitlinksOf(directory: string): string[] {
  return indexFiles(directory).flatMap((name) => linksInFile(join(directory, name)));
}

function indexFiles(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name === "index" || name.startsWith("sharedindex."));
  } catch {
    return [];
  }
}

function linksInFile(path: string): string[] {
  let fd: number;
  try {
    fd = openSync(path, FLAGS);
  } catch {
    return [];
  }
  try {
    const found = fstatSync(fd, { bigint: true });
    if (!found.isFile() || found.size > MAX_BYTES) return [];
    const version = `${found.ino} ${found.size} ${found.ctimeNs}`;
    const known = cache.get(path);
    if (known?.version === version) return known.links;
    const bytes = Buffer.alloc(Number(found.size));
    const links = parseGitlinks(bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0)));
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(path, { version, links });
    return links;
  } catch {
    return []; // changed in the meantime, or not an index
  } finally {
    closeSync(fd);
  }
}

/** Returns the gitlinks of an index. The length of its hashes, which the index does not contain, is tried. */
function parseGitlinks(index: Buffer): string[] {
  if (!index.includes(GITLINK_BYTES) || index.toString("latin1", 0, 4) !== "DIRC") return [];
  return [...new Set([20, 32].flatMap((hashBytes) => parseEntries(index, hashBytes)))];
}

function parseEntries(index: Buffer, hashBytes: number): string[] {
  const links: string[] = [];
  const version = index.readUInt32BE(4);
  const count = index.readUInt32BE(8);
  let at = HEADER_BYTES;
  let previous: Buffer = Buffer.alloc(0);
  for (let i = 0; i < count && links.length < MAX_LINKS && at + HASH_OFFSET + hashBytes + 4 < index.length; i++) {
    const flags = index.readUInt16BE(at + HASH_OFFSET + hashBytes);
    const start = at + HASH_OFFSET + hashBytes + (version >= 3 && flags & EXTENDED ? 4 : 2);
    // In version 4, a name starts with the number of bytes to remove from the previous name.
    const { value: removed, end: nameStart } = version === 4 ? readOffset(index, start) : { value: 0, end: start };
    const nameEnd = index.indexOf(0, nameStart);
    if (nameEnd < 0) break;
    const suffix = index.subarray(nameStart, nameEnd);
    const kept = previous.subarray(0, Math.max(0, previous.length - removed));
    const name = version === 4 ? Buffer.concat([kept, suffix]) : suffix;
    if (index.readUInt32BE(at + MODE_OFFSET) === GITLINK && name.length > 0) links.push(name.toString());
    previous = name;
    at = version === 4 ? nameEnd + 1 : at + ((nameEnd - at + 8) & ~7);
  }
  return links;
}

/** Reads a number in the variable-length encoding of offsets in packs (gitformat-pack(5)). */
function readOffset(bytes: Buffer, start: number): { value: number; end: number } {
  let at = start;
  let byte = bytes.readUInt8(at++);
  let value = byte & 0x7f;
  while (byte & 0x80) {
    byte = bytes.readUInt8(at++);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, end: at };
}
