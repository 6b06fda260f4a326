import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isId } from "../../core/id.ts";

/** A folder without a row is one whose removal was cut off, or a launch of this moment. */
const STRAY_AFTER_MS = 3600 * 1000;
const REMOVE_ATTEMPTS = 5;

/** What tells of a session's end, or that nobody keeps it any more: small, and the last to go. */
const TELLING = ["exit", "owner", "forgone"];

/** Removes the folders of sessions that no row tells of. */
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
    // A keeper keeps its socket there until its last word is written: this tells a live one whose row is gone.
    if (hasEnded(id) || !existsSync(join(folder, "ctl"))) removeFolder(folder);
  }
}

/** A keeper that is just finishing may remove its socket under our hands, and rmSync then stops half-way, silently. */
export function removeFolder(folder: string): void {
  for (let attempt = 0; attempt < REMOVE_ATTEMPTS && existsSync(folder); attempt++) {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes all a session left but what tells of its end. */
export function emptyFolder(folder: string): void {
  for (const name of list(folder)) {
    if (!TELLING.includes(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
