import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { protectedSpots } from "./protected-paths.ts";

/** The file system's clock goes in steps and is behind by up to one. */
const STEP_MS = 10;
/** Which were told of, so that the next command is not blamed as well. */
const told = new Set<string>();
const MOST_TOLD = 1000;

/**
 * Protected spots that came to be while a command ran: what is not there cannot be mounted over, so a person should
 * look at it. Two looks for most commands; the rest only where something was made in the folders that hold the spots.
 */
export function newSpots(workspace: string, sinceMs: number): string[] {
  const since = sinceMs - STEP_MS;
  try {
    const folders = [workspace, join(workspace, ".git")];
    if (!folders.some((folder) => (look(folder)?.mtimeMs ?? 0) >= since)) return [];
    return protectedSpots(workspace).readOnly.filter((spot) => {
      const found = look(spot);
      // No time of birth on this file system: nobody can tell.
      if (!found || found.birthtimeMs < since || found.birthtimeMs === 0) return false;
      return !(found.isDirectory() && isHarmless(spot)) && isNews(`${spot} ${found.ino} ${found.birthtimeMs}`);
    });
  } catch {
    return []; // removed, or being changed under our eyes
  }
}

function look(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** An empty folder, or one with git's own samples of hooks. */
function isHarmless(folder: string): boolean {
  return readdirSync(folder).every((name) => name.endsWith(".sample"));
}

function isNews(spot: string): boolean {
  if (told.has(spot)) return false;
  if (told.size >= MOST_TOLD) told.clear();
  told.add(spot);
  return true;
}
