import { lstatSync, readdirSync, readlinkSync, type Stats } from "node:fs";
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

type EntryKind = "none" | "link" | "other";

/** The entries of a folder that have been looked up, by name. */
interface FolderEntries {
  /** Identifies the folder and its last change. Creating, removing or replacing an entry changes it. */
  stamp: string;
  kinds: Map<string, EntryKind>;
}

/**
 * The entries of folders that are looked up again and again, although they seldom change: hundreds of names in each home
 * and workspace. Only root could set back the time of a folder's last change.
 */
const remembered = new Map<string, FolderEntries>();
const MAX_FOLDERS = 1000;
/** A folder that was changed this recently may change again without another time of change. */
const SETTLED_MS = 3000;
/** File systems whose folders keep their time of change when an entry appears. */
const UNTIMED = ["/proc", "/sys"];

/**
 * Resolves many absolute paths that may not exist, and remembers the symbolic links on the way: replacing one of them
 * would change what a path refers to. Folders are looked up once.
 */
export class LinkResolver {
  readonly #known = new Map<string, ResolvedPath>();
  readonly #folders = new Map<string, FolderEntries>();
  readonly #targets = new Map<string, string | null>();
  readonly #listed = new Map<string, readonly string[]>();
  readonly #settledMs: number;

  constructor({ settledMs = SETTLED_MS } = {}) {
    this.#settledMs = settledMs;
  }

  resolve(path: string, depth = 0): ResolvedPath {
    const known = this.#known.get(path);
    if (known) return known;
    const isEnd = path === "/" || depth > MAX_LINKS;
    const found = isEnd ? { real: path, links: [], exists: true } : this.#step(path, depth);
    this.#known.set(path, found);
    return found;
  }

  /** Reports whether something exists at a path, also if it is a link to nothing. */
  exists(path: string): boolean {
    const parent = this.resolve(parentOf(path));
    return parent.exists && this.#kindOf(parent.real, child(parent.real, path)) !== "none";
  }

  /** Returns the names in a folder, or none if it cannot be read. */
  list(folder: string): readonly string[] {
    const names = namesIn(folder);
    this.#listed.set(folder, names);
    return names;
  }

  /** Reports whether everything that was looked up is unchanged, so that a new resolver would return the same. */
  isCurrent(): boolean {
    for (const [folder, { stamp, kinds }] of this.#folders) {
      const now = entriesOf(folder, this.#settledMs);
      if (now.stamp !== "" && now.stamp === stamp) continue;
      for (const [name, kind] of kinds)
        if (kindIn(now, folder === "/" ? `/${name}` : `${folder}/${name}`) !== kind) return false;
    }
    for (const [path, target] of this.#targets) if (targetOf(path) !== target) return false;
    for (const [folder, names] of this.#listed) {
      const now = namesIn(folder);
      if (now.length !== names.length || now.some((name, index) => name !== names[index])) return false;
    }
    return true;
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
    const kind = this.#kindOf(parent.real, real);
    if (kind !== "link") return { real, links, exists: kind === "other" };
    const target = targetOf(real);
    this.#targets.set(real, target);
    if (target === null) return { real, links, exists: false };
    const behind = this.resolve(resolve(parent.real, target), depth + 1);
    return { real: behind.real, links: [...links, real, ...behind.links], exists: behind.exists };
  }

  #kindOf(folder: string, path: string): EntryKind {
    let entries = this.#folders.get(folder);
    if (!entries) {
      entries = entriesOf(folder, this.#settledMs);
      this.#folders.set(folder, entries);
    }
    return kindIn(entries, path);
  }
}

function kindIn({ kinds }: FolderEntries, path: string): EntryKind {
  const name = path.slice(path.lastIndexOf("/") + 1);
  let kind = kinds.get(name);
  if (kind === undefined) {
    const entry = entryAt(path);
    kind = entry === undefined ? "none" : entry.isSymbolicLink() ? "link" : "other";
    kinds.set(name, kind);
  }
  return kind;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns what is known about the entries of a folder that has not changed since they were looked up. */
function entriesOf(folder: string, settledMs: number): FolderEntries {
  // The stamp is taken before the entries are looked up, so that a change in between is found the next time.
  const stamp = stampOf(folder, settledMs);
  const known = remembered.get(folder);
  if (stamp !== null && known?.stamp === stamp) return known;
  const entries = { stamp: stamp ?? "", kinds: new Map<string, EntryKind>() };
  if (remembered.size >= MAX_FOLDERS) remembered.clear();
  if (stamp !== null) remembered.set(folder, entries);
  return entries;
}

/** Returns null when the next change of the folder may not be recognizable. */
function stampOf(folder: string, settledMs: number): string | null {
  if (UNTIMED.some((path) => folder === path || folder.startsWith(`${path}/`))) return null;
  try {
    const { dev, ino, ctimeNs, ctimeMs } = lstatSync(folder, { bigint: true });
    const age = Date.now() - Number(ctimeMs);
    return ctimeNs > 0n && age > settledMs ? `${dev} ${ino} ${ctimeNs}` : null;
  } catch {
    return null; // removed in the meantime
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
