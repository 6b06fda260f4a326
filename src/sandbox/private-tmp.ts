import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SallyportError } from "../core/error.ts";
import { sha256 } from "../storage/sha256.ts";

/** Identifies a private temporary directory. All commands of an agent in a workspace share one. */
export interface PrivateTmpOwner {
  state: string;
  workspace: string;
  agent: string;
  /** The user that commands run as. Null for the gateway's own user. */
  user: { uid: number; gid: number } | null;
}

/** A file with the path of the state folder. When that folder has been removed, the directories here can be too. */
const MARKER = "state";

function baseFolder(): string {
  return join(realpathSync.native(tmpdir()), `sallyport-${process.getuid?.() ?? 0}`);
}

function digest(text: string): string {
  return sha256(text).slice(0, 12);
}

/** Returns the path of a private temporary directory. `ensurePrivateTmp` creates it. */
export function privateTmpPath({ state, workspace, agent, user }: PrivateTmpOwner): string {
  return join(baseFolder(), digest(state), digest(`${workspace}\0${agent}\0${user?.uid ?? ""}`));
}

/**
 * Creates a private temporary directory if it is missing. Any user can create files in /tmp, so the owner of an
 * existing directory is checked: another user could read a directory that they own.
 */
export function ensurePrivateTmp(path: string, { state, user }: PrivateTmpOwner): void {
  // The user that runs commands must be able to traverse the parents, but to list only the innermost directory.
  const passing = user === null ? 0o700 : 0o711;
  const stateTmp = join(path, "..");
  for (const folder of [join(stateTmp, ".."), stateTmp]) ensureFolder(folder, passing);
  writeMarker(stateTmp, state);
  ensureFolder(path, 0o700, user?.uid);
  if (user) chownSync(path, user.uid, user.gid);
  const now = new Date();
  utimesSync(path, now, now);
}

/** Writes the marker atomically: another gateway would take a partial path for a state folder that was removed. */
function writeMarker(stateTmp: string, state: string): void {
  const marker = join(stateTmp, MARKER);
  if (readOrNull(marker) === state) return;
  const own = `${marker}.${process.pid}`;
  writeFileSync(own, state, { mode: 0o600 });
  renameSync(own, marker);
}

function ensureFolder(folder: string, mode: number, owner?: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw unusable(folder, (error as Error).message);
  }
  const found = lstatSync(folder);
  const ours = found.uid === process.getuid?.() || found.uid === owner;
  if (!found.isDirectory() || !ours) throw unusable(folder, "it belongs to another user");
  // Gateways with and without another `user` share the parents. The wider mode stays; it does not allow listing.
  if ((found.mode & 0o777 & ~0o711) !== 0 || (found.mode & mode) !== mode) chmodSync(folder, mode);
}

function unusable(folder: string, why: string): SallyportError {
  return new SallyportError("StateUnusable", `The temporary directory \`${folder}\` cannot be used (${why}).`, [
    { action: "check_permissions", hint: "Remove it, or set `TMPDIR` to a folder that you own." },
  ]);
}

/** Removes the directories of state folders that no longer exist, and unused directories of this one. */
export function cleanPrivateTmps(state: string, { unusedMs, live }: { unusedMs: number; live: boolean }): void {
  for (const name of entriesOf(baseFolder())) {
    const stateTmp = join(baseFolder(), name);
    const owner = readOrNull(join(stateTmp, MARKER));
    if (!owner) continue;
    if (owner !== state && !lstatSync(owner, { throwIfNoEntry: false })) removeTree(stateTmp);
    if (owner !== state || live) continue;
    for (const each of entriesOf(stateTmp)) {
      const age = Date.now() - (lstatSync(join(stateTmp, each), { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (each !== MARKER && age > unusedMs) removeTree(join(stateTmp, each));
    }
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

/** Variables that set cache folders. Programs that use $XDG_CACHE_HOME (pip, uv, go, deno …) need no entry. */
const CACHES: Readonly<Record<string, string>> = {
  XDG_CACHE_HOME: "cache",
  npm_config_cache: "cache/npm",
  YARN_CACHE_FOLDER: "cache/yarn",
  BUN_INSTALL_CACHE_DIR: "cache/bun",
  CARGO_HOME: "cache/cargo",
  GOMODCACHE: "cache/go-mod",
  GRADLE_USER_HOME: "cache/gradle",
  NUGET_PACKAGES: "cache/nuget",
};

/**
 * Returns variables that move temporary files and caches to the private directory, since commands cannot write to the
 * home directory. The user's own caches are not writable, because their contents run later outside the sandbox.
 * `kept` lists the names that the operator passes through unchanged.
 */
export function privateTmpVariables(folder: string, kept: readonly string[]): Record<string, string> {
  const all: Record<string, string> = { TMPDIR: folder, TMP: folder, TEMP: folder, TMUX_TMPDIR: folder };
  for (const [name, place] of Object.entries(CACHES)) all[name] = join(folder, place);
  return Object.fromEntries(Object.entries(all).filter(([name]) => !kept.includes(name)));
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Removes a folder recursively. Each entry is reached through the descriptor of its parent, so that a folder which an
 * untrusted command replaces by a link in the meantime is not followed.
 */
function removeTree(path: string): void {
  try {
    emptyFolder(path);
    rmdirSync(path);
  } catch {
    // The folder is in use or already removed; the next cleanup tries again.
  }
}

function emptyFolder(path: string): void {
  const fd = openSync(path, FOLDER);
  try {
    const here = `/proc/self/fd/${fd}`;
    for (const entry of readdirSync(here, { withFileTypes: true })) {
      const place = `${here}/${entry.name}`;
      if (entry.isDirectory()) removeTree(place);
      else unlinkSync(place);
    }
  } finally {
    closeSync(fd);
  }
}
