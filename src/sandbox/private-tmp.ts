import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SallyportError } from "../core/error.ts";
import { sha256 } from "../storage/sha256.ts";
import { removeTree } from "./remove-tree.ts";

/** Whose temporary folder it is. Commands of one agent in one workspace share that anyway, so they share this too. */
export interface FolderOwner {
  state: string;
  workspace: string;
  agent: string;
  /** The ordinary user commands run as; null: ours. */
  user: { uid: number; gid: number } | null;
}

/** Holds the path of the state folder; when that is gone, so may be all that is here. */
const MARKER = "state";

function base(): string {
  return join(realpathSync.native(tmpdir()), `sallyport-${process.getuid?.() ?? 0}`);
}

function digest(text: string): string {
  return sha256(text).slice(0, 12);
}

/** Where it is; made by `ensurePrivateFolder`. */
export function privateFolder({ state, workspace, agent, user }: FolderOwner): string {
  return join(base(), digest(state), digest(`${workspace}\0${agent}\0${user?.uid ?? ""}`));
}

/**
 * Makes it where it is missing. Anybody may make names in /tmp, so what is found there must be ours: a folder somebody
 * else put in its place would be theirs to read.
 */
export function ensurePrivateFolder(path: string, { state, user }: FolderOwner): void {
  // Whoever runs commands has to pass; only the innermost folder is for them to look into.
  const passing = user === null ? 0o700 : 0o711;
  const house = join(path, "..");
  for (const folder of [join(house, ".."), house]) make(folder, passing);
  mark(house, state);
  make(path, 0o700, user?.uid);
  if (user) chownSync(path, user.uid, user.gid);
  const now = new Date();
  utimesSync(path, now, now);
}

/** Whole or not at all: others that clean up take half a path for that of a state folder which is gone. */
function mark(house: string, state: string): void {
  const marker = join(house, MARKER);
  if (read(marker) === state) return;
  const own = `${marker}.${process.pid}`;
  writeFileSync(own, state, { mode: 0o600 });
  renameSync(own, marker);
}

function make(folder: string, mode: number, owner?: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw unusable(folder, (error as Error).message);
  }
  const found = lstatSync(folder);
  const ours = found.uid === process.getuid?.() || found.uid === owner;
  if (!found.isDirectory() || !ours) throw unusable(folder, "it belongs to somebody else");
  // Of several gateways one may have a user to let through and another none: the wider holds, and gives away only names.
  if ((found.mode & 0o777 & ~0o711) !== 0 || (found.mode & mode) !== mode) chmodSync(folder, mode);
}

function unusable(folder: string, why: string): SallyportError {
  return new SallyportError("StateUnusable", `The temporary folder ${folder} cannot be used: ${why}.`, [
    { action: "check_permissions", hint: `Remove ${folder}, or set TMPDIR to a folder of your own.` },
  ]);
}

/** Removes what belongs to state folders that are gone, and of this one what nobody has used for a while. */
export function clearPrivateFolders(state: string, { unusedMs, live }: { unusedMs: number; live: boolean }): void {
  for (const name of names(base())) {
    const house = join(base(), name);
    const owner = read(join(house, MARKER));
    if (!owner) continue;
    if (owner !== state && !lstatSync(owner, { throwIfNoEntry: false })) removeTree(house);
    if (owner !== state || live) continue;
    for (const each of names(house)) {
      const age = Date.now() - (lstatSync(join(house, each), { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (each !== MARKER && age > unusedMs) removeTree(join(house, each));
    }
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
