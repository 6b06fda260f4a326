import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isId } from "../../core/id.ts";

/** A folder without a row is from an interrupted removal, or from a launch in progress. */
const STRAY_AFTER_MS = 3600 * 1000;
const REMOVE_ATTEMPTS = 5;

/** The files that show a session's outcome, or that it has no keeper. They are small, and kept longest. */
const OUTCOME_FILES = ["exit", "owner", "forgone"];

/** Removes the folders of sessions without a row. */
export function removeStrays(
  sessions: string,
  isKnown: (id: string) => boolean,
  hasEnded: (id: string) => boolean,
  now: number,
): void {
  for (const id of list(sessions)) {
    const folder = join(sessions, id);
    if (!isId(id) || isKnown(id)) continue;
    if (now - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? now) < STRAY_AFTER_MS) continue;
    // A keeper has its socket there until it has written the exit record, so a socket means that it may run.
    if (hasEnded(id) || !existsSync(join(folder, "ctl"))) removeFolder(folder);
  }
}

/** A keeper that is finishing may remove its socket meanwhile; rmSync then stops without an error. */
export function removeFolder(folder: string): void {
  for (let attempt = 0; attempt < REMOVE_ATTEMPTS && existsSync(folder); attempt++) {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes the files of a session except those that show its outcome. */
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
