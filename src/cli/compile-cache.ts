import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";

/**
 * Where the command line is installed, what it takes to run a command is a large script or two. Node keeps of a module
 * what it had compiled before the module ran, and so every function is compiled again in every process that calls it.
 * This keeps what was compiled by the end of a command instead, in the same folder and on the same terms.
 */
interface Fresh {
  script: Script;
  stamp: string;
  path: string;
}

const fresh: Fresh[] = [];

/** The value of the script in this file, which was written by scripts/bundle.ts and holds only ASCII. */
export function evaluate(url: URL): unknown {
  const filename = fileURLToPath(url);
  const { source, stamp } = readScript(filename);
  const folder = getCompileCacheDir();
  const path = folder === undefined ? null : join(folder, `${basename(filename)}.compiled`);
  const cachedData = path === null ? undefined : readCompiled(path, stamp);
  const script = new Script(source, { filename, ...(cachedData ? { cachedData } : {}) });
  if (path !== null && (!cachedData || script.cachedDataRejected)) fresh.push({ script, stamp, path });
  return script.runInThisContext();
}

/** Saves the code that was compiled so far, where there was no cache to start from. Best effort: errors are ignored. */
export function saveCompiled(): void {
  for (const each of fresh.splice(0)) save(each);
}

function save({ script, stamp, path }: Fresh): void {
  const own = `${path}.${process.pid}`;
  try {
    write(own, [Buffer.from(stamp), script.createCachedData(), Buffer.from(stamp)]);
    renameSync(own, path);
  } catch {
    rmSync(own, { force: true });
  }
}

/** V8 takes compiled code on trust if it is for a source of that length: the stamp is what says it is for this one. */
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

/** Undefined: there is nothing, or not for this script, or it was not written to its end. */
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

/** On the disk before it has its name: a machine that goes down in between must not leave half of it. */
function write(path: string, parts: Uint8Array[]): void {
  const fd = openSync(path, "wx", 0o600);
  try {
    for (const part of parts) for (let at = 0; at < part.length; ) at += writeSync(fd, part, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
