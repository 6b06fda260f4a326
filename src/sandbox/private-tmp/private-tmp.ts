/**
 * Private temporary directories. All commands of an agent in a workspace share one, with these folders:
 *
 *     /tmp/sallyport-XXXXXX/        the base folder of a state folder
 *       0123456789ab/               a private temporary directory
 *         tmpdir/                   $TMPDIR, which the command also sees at this path
 *         tmp/ var-tmp/ shm/        mounted over /tmp, /var/tmp and /dev/shm, where a mount namespace is available
 *
 * The folder that is mounted over /tmp does not contain the one at $TMPDIR, because `find` and `rm` fail in a folder
 * that contains itself.
 */
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { SallyportError } from "../../core/error.ts";
import type { Bind } from "../../core/launch.ts";
import { operatorStep } from "../../core/next-step.ts";
import { sha256 } from "../../storage/sha256.ts";
import { baseFolder, ownUid, writeMarker } from "./base.ts";

/** Identifies a private temporary directory. */
export interface PrivateTmpOwner {
  state: string;
  workspace: string;
  agent: string;
  /** The user that commands run as. Null for the gateway's own user. */
  user: { uid: number; gid: number } | null;
}

export interface PrivateTmp {
  base: string;
  folder: string;
  /** The value of $TMPDIR. */
  tmpdir: string;
  binds: Bind[];
}

const SHARED: readonly [shared: string, name: string][] = [
  ["/tmp", "tmp"],
  ["/var/tmp", "var-tmp"],
  ["/dev/shm", "shm"],
];

/** Returns the paths of a private temporary directory. `ensurePrivateTmp` creates it. */
export function privateTmpOf({ state, workspace, agent, user }: PrivateTmpOwner): PrivateTmp {
  const base = baseFolder(state);
  const folder = join(base, sha256(`${workspace}\0${agent}\0${user?.uid ?? ""}`).slice(0, 12));
  const binds = new Map<string, string>();
  for (const [shared, name] of SHARED) {
    const at = realFolder(shared);
    if (at !== null && at !== "/" && !binds.has(at)) binds.set(at, join(folder, name));
  }
  const tmpdir = join(folder, "tmpdir");
  return { base, folder, tmpdir, binds: [...binds].map(([at, source]) => ({ at, source })) };
}

function realFolder(path: string): string | null {
  try {
    const real = realpathSync.native(path);
    return statSync(real).isDirectory() ? real : null;
  } catch {
    return null;
  }
}

/** Creates the folders of a private temporary directory that are missing. */
export function ensurePrivateTmp({ base, folder, tmpdir, binds }: PrivateTmp, { state, user }: PrivateTmpOwner): void {
  // The user that runs commands must be able to traverse the base folder, but not to list it.
  ensureFolder(base, user === null ? 0o700 : 0o711, null);
  writeMarker(base, state);
  ensureFolder(folder, 0o700, user);
  // Commands of root that change to another user expect to be able to write to /tmp.
  for (const each of [tmpdir, ...binds.map(({ source }) => source)]) ensureFolder(each, 0o1777, user);
  markUsed(folder);
}

/** Reports whether all folders exist. A program that cleans /tmp may remove any of them. */
export function privateTmpExists({ tmpdir, binds }: PrivateTmp): boolean {
  return existsSync(tmpdir) && binds.every(({ source }) => existsSync(source));
}

/** Sets the time from which on the directory counts as unused. */
export function markUsed(folder: string): void {
  const now = new Date();
  utimesSync(folder, now, now);
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Creates a folder, or checks an existing one: another user could read a folder that they own. Its mode and owner are
 * changed through a descriptor, because the user that commands run as could replace the folder by a link.
 */
function ensureFolder(folder: string, mode: number, user: PrivateTmpOwner["user"]): void {
  let fd: number;
  let created = true;
  try {
    try {
      mkdirSync(folder, { mode });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      created = false;
    }
    fd = openSync(folder, FOLDER);
  } catch (error) {
    throw unusable(folder, (error as Error).message);
  }
  try {
    const found = fstatSync(fd);
    if (found.uid !== ownUid() && found.uid !== user?.uid) throw unusable(folder, "it belongs to another user");
    // Gateways with and without another `user` share the base folder. The wider mode stays; it does not allow listing.
    const most = mode === 0o1777 ? mode : 0o711;
    if ((found.mode & 0o1777 & ~most) !== 0 || (found.mode & mode) !== mode) fchmodSync(fd, mode);
    if (created && user) fchownSync(fd, user.uid, user.gid);
  } finally {
    closeSync(fd);
  }
}

function unusable(folder: string, why: string): SallyportError {
  return new SallyportError("StateUnusable", `The temporary directory \`${folder}\` cannot be used (${why}).`, [
    operatorStep("check_permissions", "Remove it, or set `TMPDIR` to a folder that you own."),
  ]);
}
