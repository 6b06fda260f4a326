import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const BLOCK_BYTES = 8192;
/** Enough to halve any file down to a block. */
const MOST_STEPS = 64;

/**
 * The packages that hold a path, from an archive's Contents index: lines of `usr/bin/rg  utils/ripgrep`, sorted by
 * path. Halves its way to the line, so that half a gigabyte costs no more than some thirty small reads.
 */
export function packagesHolding(contents: string, path: string): string[] {
  const fd = openSync(contents, "r");
  try {
    let low = 0;
    let high = fstatSync(fd).size;
    for (let step = 0; step < MOST_STEPS && high - low > BLOCK_BYTES; step++) {
      const middle = Math.floor((low + high) / 2);
      const first = firstPath(readFrom(fd, middle));
      if (first === null || first >= path) high = middle;
      else low = middle;
    }
    // The line may begin in one block and be the first whole one of the next.
    return packagesIn(readFrom(fd, low, BLOCK_BYTES * 2), path);
  } finally {
    closeSync(fd);
  }
}

function readFrom(fd: number, offset: number, length = BLOCK_BYTES): string {
  const block = Buffer.allocUnsafe(length);
  return block.toString("utf8", 0, readSync(fd, block, 0, length, offset));
}

/** Of the first line that begins in the block. */
function firstPath(block: string): string | null {
  return /\n(\S+)\s/.exec(block)?.[1] ?? null;
}

function packagesIn(block: string, path: string): string[] {
  const line = block.split("\n").find((each) => each.startsWith(path) && /^\s/.test(each.slice(path.length)));
  if (line === undefined) return [];
  const places = line.slice(path.length).trim().split(",");
  return places.map((place) => place.slice(place.lastIndexOf("/") + 1)).filter(isPackageName);
}

export function isPackageName(name: string): boolean {
  return /^[a-z0-9][a-z0-9+.-]{1,60}$/.test(name);
}
