import { lstatSync, readlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** The limit of the kernel. A path with more links cannot be opened. */
const MAX_LINKS = 40;

interface ResolvedPath {
  /** The path with its links resolved as far as it exists. */
  real: string;
  /** The links on the way, with their parent folders resolved. */
  links: readonly string[];
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
    const found = path === "/" || depth > MAX_LINKS ? { real: path, links: [] } : this.#step(path, depth);
    this.#known.set(path, found);
    return found;
  }

  #step(path: string, depth: number): ResolvedPath {
    const parent = this.resolve(dirname(path), depth);
    const real = join(parent.real, basename(path));
    const target = linkTarget(real);
    if (target === null) return { real, links: parent.links };
    const behind = this.resolve(resolve(parent.real, target), depth + 1);
    return { real: behind.real, links: [...parent.links, real, ...behind.links] };
  }
}

/** Returns the text of a link, or null. lstat comes first, because most paths do not exist and an exception is slow. */
function linkTarget(path: string): string | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : null;
  } catch {
    return null; // a parent folder cannot be searched
  }
}
