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

/** Whose temporary folder it is. Commands of one agent in one workspace share that anyway, so they share this too. */
export interface PrivateTmpOwner {
  state: string;
  workspace: string;
  agent: string;
  /** The ordinary user commands run as; null: ours. */
  user: { uid: number; gid: number } | null;
}

/** Holds the path of the state folder; when that is gone, so may be all that is here. */
const MARKER = "state";

function baseFolder(): string {
  return join(realpathSync.native(tmpdir()), `sallyport-${process.getuid?.() ?? 0}`);
}

function digest(text: string): string {
  return sha256(text).slice(0, 12);
}

/** Where it is; made by `ensurePrivateFolder`. */
export function privateTmpPath({ state, workspace, agent, user }: PrivateTmpOwner): string {
  return join(baseFolder(), digest(state), digest(`${workspace}\0${agent}\0${user?.uid ?? ""}`));
}

/**
 * Makes it where it is missing. Anybody may make names in /tmp, so what is found there must be ours: a folder somebody
 * else put in its place would be theirs to read.
 */
export function ensurePrivateTmp(path: string, { state, user }: PrivateTmpOwner): void {
  // Whoever runs commands has to pass; only the innermost folder is for them to look into.
  const passing = user === null ? 0o700 : 0o711;
  const stateTmp = join(path, "..");
  for (const folder of [join(stateTmp, ".."), stateTmp]) ensureFolder(folder, passing);
  writeMarker(stateTmp, state);
  ensureFolder(path, 0o700, user?.uid);
  if (user) chownSync(path, user.uid, user.gid);
  const now = new Date();
  utimesSync(path, now, now);
}

/** Whole or not at all: others that clean up take half a path for that of a state folder which is gone. */
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
  // Of several gateways one may have a user to let through and another none: the wider holds, and gives away only names.
  if ((found.mode & 0o777 & ~0o711) !== 0 || (found.mode & mode) !== mode) chmodSync(folder, mode);
}

function unusable(folder: string, why: string): SallyportError {
  return new SallyportError("StateUnusable", `The temporary directory \`${folder}\` cannot be used (${why}).`, [
    { action: "check_permissions", hint: "Remove it, or set `TMPDIR` to a folder that you own." },
  ]);
}

/** Removes what belongs to state folders that are gone, and of this one what nobody has used for a while. */
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

/** Where programs put what they may lose. Those that ask $XDG_CACHE_HOME (pip, uv, go, deno …) need no line of their own. */
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
 * A home is not theirs to write to, so commands get a temporary folder and caches of their own. Never a person's caches:
 * what a command puts there would run later, unconfined. `kept`: names the operator lets through as they are.
 */
export function privateTmpVariables(folder: string, kept: readonly string[]): Record<string, string> {
  const all: Record<string, string> = { TMPDIR: folder, TMP: folder, TEMP: folder, TMUX_TMPDIR: folder };
  for (const [name, place] of Object.entries(CACHES)) all[name] = join(folder, place);
  return Object.fromEntries(Object.entries(all).filter(([name]) => !kept.includes(name)));
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Removes a folder and what is in it. Each name is reached through the descriptor of the folder above, so that a folder
 * swapped for a link meanwhile is not followed: what is removed here was written by commands nobody trusts.
 */
function removeTree(path: string): void {
  try {
    emptyFolder(path);
    rmdirSync(path);
  } catch {
    // In use, or gone already: there is a next time.
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
