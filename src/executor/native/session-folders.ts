import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isId } from "../../core/id.ts";

/**
 * The minimum age at which a folder without a database row is removed. A younger one may belong to a launch in
 * progress.
 */
const STRAY_AFTER_MS = 3600 * 1000;
const REMOVE_ATTEMPTS = 5;

/**
 * The small files that record how a session ended, which keeper ran it, or that it was abandoned. They are kept the
 * longest.
 */
const OUTCOME_FILES = ["exit", "owner", "forgone"];

/** Removes the folders of sessions without a row. */
export function removeStrays(
  sessions: string,
  isKnown: (id: string) => boolean,
  hasEnded: (id: string) => boolean,
  now: number,
): void {
  for (const id of listSessions(sessions)) {
    const folder = join(sessions, id);
    if (isKnown(id)) continue;
    if (now - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? now) < STRAY_AFTER_MS) continue;
    // A keeper removes its socket after it has written the exit record, so a folder with a socket may be in use.
    if (hasEnded(id) || !existsSync(join(folder, "ctl"))) removeFolder(folder);
  }
}

/** Returns the IDs of the sessions that have a folder. */
export function listSessions(sessions: string): string[] {
  return list(sessions).filter(isId);
}

/**
 * Removes a folder. Repeats if a keeper removes its socket in the meantime, since rmSync then stops without an error.
 */
export function removeFolder(folder: string): void {
  for (let attempt = 0; attempt < REMOVE_ATTEMPTS && existsSync(folder); attempt++) {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes the files of a session except those that record its outcome. */
export function emptyFolder(folder: string): void {
  for (const name of list(folder)) {
    if (!OUTCOME_FILES.includes(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
