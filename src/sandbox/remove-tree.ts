import { closeSync, constants, openSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Removes a folder and what is in it. Each name is reached through the descriptor of the folder above, so that a folder
 * swapped for a link meanwhile is not followed: what is removed here was written by commands nobody trusts.
 */
export function removeTree(path: string): void {
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
