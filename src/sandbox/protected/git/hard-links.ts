import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The number of folders and files that are looked at. Package managers link either all files or none. */
const MAX_FOLDERS = 60;
const MAX_FILES = 120;

/**
 * Looks for a file that has further names elsewhere in a sample of a folder, and returns its path or null. Such a file
 * also belongs to another project or a package store, so that a change to it has effects outside the workspace.
 */
export function linkedFileIn(folder: string): string | null {
  const names = new Map<string, { path: string; count: number; found: number }>();
  const pending = [folder];
  let files = 0;
  for (let i = 0; i < Math.min(pending.length, MAX_FOLDERS) && files < MAX_FILES; i++) {
    for (const entry of entriesOf(pending[i] ?? "").slice(0, MAX_FILES)) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isDirectory()) pending.push(path);
      if (!entry.isFile() || files++ >= MAX_FILES) continue;
      const { dev, ino, nlink } = lstatSync(path, { throwIfNoEntry: false }) ?? { dev: 0, ino: 0, nlink: 1 };
      if (nlink < 2) continue;
      const known = names.get(`${dev}:${ino}`);
      if (known) known.found++;
      else names.set(`${dev}:${ino}`, { path, count: nlink, found: 1 });
    }
  }
  return [...names.values()].find(({ count, found }) => found < count)?.path ?? null;
}

/** Returns the entries of a folder, with scoped and stored packages (`.pnpm`, `@scope`) first. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}
