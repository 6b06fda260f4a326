import { renameSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readIfExists } from "./errors.ts";
import type { TreeRoot } from "./processes.ts";
import { exists, isSameProcess, startTimeOf } from "./processes.ts";

/** The content of the file `owner` of a session: its portable keeper and its main process. */
export interface SessionOwner {
  keeper: number;
  keeperBorn: string;
  main: TreeRoot | null;
}

const FILE = "owner";
/** The title of a portable keeper in `ps`, followed by its state folder. */
export const PORTABLE_TITLE = "keeper: portable ";

export function writeOwner(folder: string, main: TreeRoot | null): void {
  const owner: SessionOwner = { keeper: process.pid, keeperBorn: startTimeOf(process.pid) ?? "", main };
  const path = join(folder, FILE);
  writeFileSync(`${path}.new`, JSON.stringify(owner), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Marks a session as released by its keeper. Truncating works even on a full disk. */
export function clearOwner(folder: string): void {
  try {
    truncateSync(join(folder, FILE), 0);
  } catch {
    // The file was never written, or the folder was removed.
  }
}

/**
 * Reports whether a portable keeper still supervises this session. Returns null if the session is not under a portable
 * keeper.
 */
export function isKeptByPortable(folder: string, keeperPid: number): boolean | null {
  if (statSync(join(folder, FILE), { throwIfNoEntry: false }) === undefined) {
    // The file is written right after the folder is created. Until then, only the keeper's title shows its kind.
    if (process.platform !== "linux") return exists(keeperPid);
    const title = readIfExists(`/proc/${keeperPid}/cmdline`, "latin1");
    return title?.startsWith(PORTABLE_TITLE) ? true : null;
  }
  const owner = readOwner(folder);
  return owner !== null && isOwnerAlive(owner);
}

/** Reads the file `owner`. Returns null if no portable keeper supervises this session or the file is invalid. */
export function readOwner(folder: string): SessionOwner | null {
  const text = readIfExists(join(folder, FILE));
  if (text === null) return null;
  try {
    const owner = JSON.parse(text) as SessionOwner;
    const { keeper, keeperBorn, main } = owner;
    const isValid = (pid: unknown, born: unknown) =>
      Number.isSafeInteger(pid) && Number(pid) > 1 && typeof born === "string";
    return isValid(keeper, keeperBorn) && (main === null || isValid(main.pid, main.born)) ? owner : null;
  } catch {
    return null;
  }
}

export function isOwnerAlive({ keeper, keeperBorn }: SessionOwner): boolean {
  return isSameProcess(keeper, keeperBorn);
}

/** Returns the path of the socket on which the keeper of a session accepts gateways. */
export function controlSocketPath(folder: string): string {
  return join(folder, "ctl");
}
