import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { resolve } from "node:path";

/** The limit of the kernel. A path with more links cannot be opened. */
const MAX_LINKS = 40;

interface ResolvedPath {
  /** The path with its links resolved as far as it exists. */
  real: string;
  /** The links on the way, with their parent folders resolved. */
  links: readonly string[];
  /** Whether something may exist at the path. */
  exists: boolean;
}

/**
 * Resolves many absolute paths that may not exist, and remembers the symbolic links on the way: replacing one of them
 * would change what a path refers to. Folders are looked up once.
 */
export class LinkResolver {
  readonly #known = new Map<string, ResolvedPath>();

  resolve(path: string, depth = 0): ResolvedPath {
    const known = this.#known.get(path);
    if (known) return known;
    const isEnd = path === "/" || depth > MAX_LINKS;
    const found = isEnd ? { real: path, links: [], exists: true } : this.#step(path, depth);
    this.#known.set(path, found);
    return found;
  }

  /** Resolves the parent folder of a path, but not the path itself. */
  resolveParent(path: string): string {
    return child(this.resolve(parentOf(path)).real, path);
  }

  #step(path: string, depth: number): ResolvedPath {
    const parent = this.resolve(parentOf(path), depth);
    const real = child(parent.real, path);
    const links = parent.links;
    if (!parent.exists) return { real, links, exists: false };
    const entry = entryAt(real);
    if (!entry?.isSymbolicLink()) return { real, links, exists: entry !== undefined };
    const target = targetOf(real);
    if (target === null) return { real, links, exists: false };
    const behind = this.resolve(resolve(parent.real, target), depth + 1);
    return { real: behind.real, links: [...links, real, ...behind.links], exists: behind.exists };
  }
}

/** Returns the folder of a normalized absolute path. Much faster than `dirname`. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** Appends the last name of a path to a folder. */
function child(folder: string, path: string): string {
  const name = path.slice(path.lastIndexOf("/"));
  return folder === "/" ? name : folder + name;
}

/** Returns undefined for a path that does not exist: most paths do not, and an exception is slow. */
function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // a parent folder cannot be searched
  }
}

function targetOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null; // replaced in the meantime
  }
}
