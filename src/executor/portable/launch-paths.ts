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
import { basename, dirname, join, sep } from "node:path";
import type { LaunchSpec } from "../../core/launch.ts";

const { ELOOP, EMLINK, EINVAL, ENOTDIR, EXDEV } = os.errno;
const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY, X_OK } = constants;
/** Node does not name it. Neither reading nor writing: just the place. */
const O_PATH = 0o10000000;

/** A step on the way to the start that failed, as a launch failure names it. */
export class StepFailed extends Error {
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

export function attempt<T>(step: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof StepFailed ? error : new StepFailed(step, errnoOf(error));
  }
}

function isBeneath(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** Where the command is to start. `path` leads there until it is closed. */
export interface Folder {
  path: string;
  close(): void;
}

/**
 * The folder holds no links and lies beneath its root (promise 7). On Linux it is held open and entered through its
 * descriptor, so that nobody can put another in its place; elsewhere it is looked at first and entered then.
 */
export function openFolder(
  { cwd, root }: Pick<LaunchSpec, "cwd" | "root">,
  platform: NodeJS.Platform = process.platform,
): Folder {
  return attempt("chdir", () => {
    const real = realpathSync.native(cwd);
    if (root !== null && real !== cwd) throw new StepFailed("scope", ELOOP);
    if (root !== null && !isBeneath(root, real)) throw new StepFailed("scope", EXDEV);
    if (!statSync(real).isDirectory()) throw new StepFailed("chdir", ENOTDIR);
    accessSync(real, X_OK);
    return platform === "linux" ? heldOpen(real, root !== null) : { path: real, close: () => {} };
  });
}

function heldOpen(folder: string, scoped: boolean): Folder {
  const fd = openSync(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  const path = `/proc/self/fd/${fd}`; // the child's own, which it still has when it goes there
  const held = { path, close: () => closeSync(fd) };
  if (!scoped || readlinkSync(path) === folder) return held;
  held.close();
  throw new StepFailed("scope", ELOOP);
}

/** The plain log, empty and open for writing; null when none is wanted. */
export function openLog({ logFile, root }: Pick<LaunchSpec, "logFile" | "root">, umask: number): number | null {
  if (logFile === null) return null;
  return attempt("log", () => {
    const folder = dirname(logFile);
    if (root !== null && (realpathSync.native(folder) !== folder || !isBeneath(root, folder)))
      throw new StepFailed("scope-log", ELOOP);
    const fd = openLogFile(join(folder, basename(logFile)), root !== null, 0o666 & ~umask);
    try {
      const status = fstatSync(fd);
      if (!status.isFile()) throw new StepFailed("log", EINVAL); // a device or a pipe could block us
      // Emptied after it was looked at: a second name of a file elsewhere must not empty that one.
      if (root !== null && status.nlink > 1) throw new StepFailed("scope-log", EMLINK);
      ftruncateSync(fd, 0);
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  });
}

function openLogFile(path: string, scoped: boolean, mode: number): number {
  try {
    return openSync(path, O_RDWR | O_CREAT | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0), mode);
  } catch (error) {
    if (scoped && (error as NodeJS.ErrnoException).code === "ELOOP") throw new StepFailed("scope-log", ELOOP);
    throw error;
  }
}
