/** Looks up executables on PATH, and resolves symbolic links. */

import { accessSync, constants, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { callerEnv } from "../core/caller.ts";
import { uptimeMs } from "../core/clock.ts";

/** The context of an analysis. All file system access goes through `lookup`, so that the analysis itself is pure. */
export interface InspectContext {
  /** Directory in which the command would start. */
  cwd: string;
  /** Home directory, for `~`. */
  home: string;
  workspace: string;
  /** Environment variables with values that are certain when the command runs (`USER`, `TMPDIR`). */
  env?: Readonly<Record<string, string | undefined>>;
  lookup: Lookup;
  /** The text of standard input, if it is known. */
  stdin?: string;
  /** Returns the text of a file that the command may read, for files that it runs as code. Null for other files. */
  readFile?: (path: string) => string | null;
}

export interface Lookup {
  /**
   * Returns the executable for a command name: the first match on PATH, or the path itself if the name contains a
   * slash. Null when there is none.
   */
  which(name: string, cwd: string | null): string | null;
  /** Returns the path with its links resolved, as far as it exists. Null when it cannot be read. */
  realpath(path: string): string | null;
}

/**
 * Time for which results are cached: long enough for several checks of one request, short enough to notice a changed
 * file.
 */
const KEEP_MS = 1000;

export function systemLookup(path = callerEnv().PATH ?? "/usr/local/bin:/usr/bin:/bin"): Lookup {
  const found = new Map<string, string | null>();
  let until = 0;
  return {
    which(name, cwd) {
      if (name.includes("/")) {
        const full = name.startsWith("/") ? name : cwd === null ? null : `${cwd}/${name}`;
        return full === null ? null : executable(full);
      }
      const now = uptimeMs();
      if (now > until) {
        found.clear();
        until = now + KEEP_MS;
      }
      const known = found.get(name);
      if (known !== undefined) return known;
      let file: string | null = null;
      for (const entry of path.split(":")) {
        if (entry.startsWith("/")) file = executable(`${entry}/${name}`);
        if (file !== null) break;
      }
      found.set(name, file);
      return file;
    },
    realpath: followLinks,
  };
}

const ANY_MAY_EXECUTE = 0o111;

/**
 * Returns the executable file with its links resolved, or null. Every run calls this, so it makes as few system calls
 * as possible.
 */
function executable(file: string): string | null {
  try {
    const status = statSync(file, { throwIfNoEntry: false });
    if (!status?.isFile() || (status.mode & ANY_MAY_EXECUTE) === 0) return null;
    if (process.getuid?.() !== 0) accessSync(file, constants.X_OK);
    return realpathSync.native(file);
  } catch {
    return null;
  }
}

/**
 * Resolves the links in the part of the path that exists; the rest keeps its name. A dangling link is followed too,
 * since writing through it creates the file it names. `lstat` is tried first, because an exception costs 20 µs.
 */
function followLinks(path: string): string | null {
  let head = path;
  let rest = "";
  for (let level = 0; level < 64; level++) {
    const entry = exists(head);
    if (entry) {
      const real = realOf(head) ?? (entry.isSymbolicLink() ? danglingTarget(head) : null);
      if (real === null) return null;
      return rest === "" ? real : `${real === "/" ? "" : real}/${rest}`;
    }
    if (head === "/" || head === ".") return null;
    rest = rest === "" ? basename(head) : `${basename(head)}/${rest}`;
    head = dirname(head);
  }
  return null;
}

function exists(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function realOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

function danglingTarget(path: string, hops = 0): string | null {
  if (hops > 8) return null;
  try {
    const next = resolve(dirname(path), readlinkSync(path));
    return exists(next)?.isSymbolicLink() ? danglingTarget(next, hops + 1) : next;
  } catch {
    return null;
  }
}
