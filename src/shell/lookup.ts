/** What the analysis may know about the machine: executables on PATH, and links. */
import { accessSync, constants, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { uptimeMs } from "../core/clock.ts";

/** What the analysis may know about the world. All reading of it is injected, so that the analysis itself is pure. */
export interface InspectContext {
  /** Where the command would start. */
  cwd: string;
  /** The home folder `~` stands for. */
  home: string;
  workspace: string;
  /** Environment variables whose value is certain when the command runs (`USER`, `TMPDIR`). */
  env?: Readonly<Record<string, string | undefined>>;
  lookup: Lookup;
}

export interface Lookup {
  /** The file a command word means: found on PATH for a bare name, else the path itself if it can be executed. */
  which(name: string, cwd: string | null): string | null;
  /** The path with its links followed, as far as it exists; null where it cannot be read. */
  realpath(path: string): string | null;
}

/** Long enough for one burst of checks, short enough that a changed file is seen by the next. */
const KEEP_MS = 1000;

export function systemLookup(path = process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin"): Lookup {
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

/** A file that can be executed, links followed; null where there is none. Every run asks: no system call too many. */
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
 * Links followed in the part that exists; what does not exist yet keeps its name. A link that leads nowhere yet is
 * followed too: writing through it makes the file it names. Asked by lstat first, since an exception costs 20 µs.
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
