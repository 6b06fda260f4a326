import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { constants as os } from "node:os";
import { delimiter, dirname, join, sep } from "node:path";
import type { LaunchSpec } from "../../core/launch.ts";

const { EACCES, EINVAL, ELOOP, EMLINK, ENOENT, ENOTDIR, EXDEV } = os.errno;
const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY, X_OK } = constants;
/** Opens a path neither for reading nor for writing. Node does not define this constant. */
const O_PATH = 0o10000000;

/** A failed step of a launch. */
export class LaunchStepError extends Error {
  readonly step: string;
  readonly errno: number;

  constructor(step: string, errno: number) {
    super(`${step} failed`);
    this.step = step;
    this.errno = errno;
  }
}

export function errnoOf(error: unknown): number {
  return Math.abs((error as NodeJS.ErrnoException).errno ?? EINVAL);
}

/** Runs one step of a launch. Throws `LaunchStepError`. */
export function step<T>(name: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof LaunchStepError ? error : new LaunchStepError(name, errnoOf(error));
  }
}

function isBeneath(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

interface WorkingDirectory {
  /** The path, which is valid until `close` is called. */
  path: string;
  close(): void;
}

/**
 * Checks that the path of the working directory has no links and is beneath its root (invariant 7). On Linux the
 * command enters it through a descriptor, so that it cannot be replaced after the check.
 */
export function openWorkingDirectory({ cwd, root }: LaunchSpec): WorkingDirectory {
  return step("chdir", () => {
    const real = realpathSync.native(cwd);
    if (root !== null && real !== cwd) throw new LaunchStepError("scope", ELOOP);
    if (root !== null && !isBeneath(root, real)) throw new LaunchStepError("scope", EXDEV);
    if (!statSync(real).isDirectory()) throw new LaunchStepError("chdir", ENOTDIR);
    accessSync(real, X_OK);
    if (process.platform !== "linux") return { path: real, close: () => {} };
    const fd = openSync(real, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    const path = `/proc/self/fd/${fd}`; // the child has the same descriptor until it executes the program
    if (root === null || readlinkSync(path) === real) return { path, close: () => closeSync(fd) };
    closeSync(fd);
    throw new LaunchStepError("scope", ELOOP);
  });
}

/** Runs `act` with the given umask, which a child inherits if `act` forks it before it returns. */
export function withUmask<T>(umask: number, act: () => T): T {
  const before = process.umask(umask);
  try {
    return act();
  } finally {
    process.umask(before);
  }
}

/** Opens and truncates the requested log file. Returns null if there is none. */
export function openLog({ logFile, root }: LaunchSpec, umask: number): number | null {
  if (logFile === null) return null;
  return step("log", () => {
    const folder = dirname(logFile);
    if (root !== null && (realpathSync.native(folder) !== folder || !isBeneath(root, folder)))
      throw new LaunchStepError("scope-log", ELOOP);
    // The umask of this process is stricter: the user of the command reads this file.
    const fd = withUmask(umask, () => openLogFile(logFile, root !== null, 0o666));
    try {
      const status = fstatSync(fd);
      if (!status.isFile()) throw new LaunchStepError("log", EINVAL); // writing to a device or pipe could block
      // Checked before the file is truncated, because it could be a hard link to a file outside the root.
      if (root !== null && status.nlink > 1) throw new LaunchStepError("scope-log", EMLINK);
      ftruncateSync(fd, 0);
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  });
}

function openLogFile(path: string, isScoped: boolean, mode: number): number {
  try {
    return openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode);
  } catch (error) {
    const isLink = isScoped && (error as NodeJS.ErrnoException).code === "ELOOP";
    throw isLink ? new LaunchStepError("scope-log", ELOOP) : error;
  }
}

/**
 * Finds a program on the given PATH. Empty entries are skipped: the system would search the working directory, where a
 * file of the agent could shadow a program.
 */
export function findProgram(name: string, path: string): string {
  if (name.includes("/")) return name;
  let errno = ENOENT;
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const candidate = join(folder, name);
    try {
      accessSync(candidate, X_OK);
      if (statSync(candidate).isFile()) return candidate;
      errno = EACCES;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EACCES") errno = EACCES;
    }
  }
  throw new LaunchStepError("execve", errno);
}
