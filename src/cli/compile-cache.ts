import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";

/**
 * A script of the installed command line that has no usable cache yet. Node's own compile cache stores only the code
 * compiled before a module runs, so each process would compile the functions again. This cache stores the code compiled
 * by the end of a command, in the same folder.
 */
interface UncachedScript {
  script: Script;
  stamp: string;
  path: string;
}

const uncached: UncachedScript[] = [];

/** The commands with caches of their own. Each contains the functions that the command needs. */
const CACHED_COMMANDS: readonly string[] = ["run", "mcp", "serve"];
let user = "run";

/** Selects the cache of a command. Other commands use the one of `run`. */
export function useCacheOf(command: string): void {
  if (CACHED_COMMANDS.includes(command)) user = command;
}

/** Evaluates a script that scripts/bundle.ts wrote, which contains only ASCII. */
export function evaluate(url: URL): unknown {
  const filename = fileURLToPath(url);
  const { source, stamp } = readScript(filename);
  const folder = getCompileCacheDir();
  const path = folder === undefined ? null : join(folder, `${basename(filename)}.${user}.compiled`);
  const cachedData = path === null ? undefined : readCompiled(path, stamp);
  const script = new Script(source, { filename, ...(cachedData ? { cachedData } : {}) });
  if (path !== null && (!cachedData || script.cachedDataRejected)) uncached.push({ script, stamp, path });
  return script.runInThisContext();
}

/**
 * Saves the code that has been compiled so far, for scripts without a cache, or only for those whose name begins with
 * `prefix`. Best effort: errors are ignored.
 */
export function saveCompiled(prefix = ""): void {
  for (const each of uncached.splice(0)) if (basename(each.path).startsWith(prefix)) save(each);
}

function save({ script, stamp, path }: UncachedScript): void {
  const own = `${path}.${process.pid}`;
  try {
    write(own, [Buffer.from(stamp), script.createCachedData(), Buffer.from(stamp)]);
    renameSync(own, path);
  } catch {
    rmSync(own, { force: true });
  }
}

/** Returns the source and a stamp that identifies it, because V8 compares only the length of the source with the cache. */
function readScript(filename: string): { source: string; stamp: string } {
  const fd = openSync(filename, "r");
  try {
    const { size, mtimeMs } = fstatSync(fd);
    return {
      source: readFileSync(fd, "latin1"),
      stamp: `${size} ${mtimeMs}`.padEnd(STAMP_BYTES).slice(0, STAMP_BYTES),
    };
  } finally {
    closeSync(fd);
  }
}

const STAMP_BYTES = 40;

/**
 * Returns the cached code, or undefined when the cache is missing, incomplete, or belongs to another version of the
 * script.
 */
function readCompiled(path: string, stamp: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    const end = bytes.length - STAMP_BYTES;
    const ends = [bytes.toString("latin1", 0, STAMP_BYTES), bytes.toString("latin1", Math.max(0, end))];
    return ends.every((text) => text === stamp) ? bytes.subarray(STAMP_BYTES, end) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes a file and syncs it before the caller renames it, so that a crash of the machine leaves no partial file in
 * place.
 */
function write(path: string, parts: Uint8Array[]): void {
  const fd = openSync(path, "wx", 0o600);
  try {
    for (const part of parts) for (let at = 0; at < part.length; ) at += writeSync(fd, part, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
