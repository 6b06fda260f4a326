/**
 * Further paths of the same files. If a file system is mounted twice, or a folder is bound to a second place, a denied
 * path is readable under another name, and a Landlock rule for the other name grants the path itself, because rules
 * belong to files. Rules for a path therefore have to apply to all its paths (invariant 7).
 */
import { readFileSync } from "node:fs";
import { uptimeMs } from "../../core/clock.ts";
import { SallyportError } from "../../core/error.ts";
import { isWithin } from "../workspace.ts";
import { parentOf } from "./links.ts";

/** A line of /proc/self/mountinfo, which proc(5) describes. */
interface Mount {
  id: string;
  parent: string;
  /** The device of the file system, which all its mounts share. */
  device: string;
  /** The folder of the file system that is mounted. */
  root: string;
  point: string;
  type: string;
  /** Folders whose files an overlay or a FUSE file system shows. */
  layers: readonly string[];
}

/** A place where a folder of a file system is visible. */
interface View {
  root: string;
  point: string;
  /** The mount that must be visible there. Null for a folder that is a layer. */
  mount: Mount | null;
}

/** The views of a file system. `roots` is sorted, so that those within a folder are found quickly. */
interface FileSystem {
  views: Map<string, View[]>;
  roots: string[];
}

/** File systems that show processes, devices and terminals of the machine, wherever they are mounted. */
const KERNEL_TYPES = new Map([
  ["proc", "/proc"],
  ["devtmpfs", "/dev"],
  ["devpts", "/dev"],
]);

/** The mount of the root directory in a `chroot` environment, where the table does not contain it. */
const UNLISTED: Mount = { id: "", parent: "", device: "", root: "/", point: "/", type: "", layers: [] };

/** The maximum number of further paths. The keeper masks at most 1024 paths. */
const MAX_ALIASES = 768;

export class MountTable {
  /** The mounts by parent and mount point. */
  readonly #children = new Map<string, Mount>();
  readonly #root: Mount;
  /** Mount points in order, for mounts within a path. */
  readonly #points: string[];
  readonly #fileSystems = new Map<string, FileSystem>();
  readonly #known = new Map<string, readonly string[]>();
  /** Mounts of /proc and /dev at other places. */
  readonly kernelMounts: readonly string[];

  constructor(text: string) {
    const mounts = text.split("\n").flatMap(parseMount);
    const ids = new Set(mounts.map(({ id }) => id));
    const isTop = ({ id, parent }: Mount): boolean => parent === id || !ids.has(parent);
    this.#root = mounts.find((mount) => mount.point === "/" && isTop(mount)) ?? UNLISTED;
    for (const mount of mounts) {
      if (mount === this.#root) continue;
      this.#children.set(childKey(isTop(mount) ? this.#root.id : mount.parent, mount.point), mount);
    }
    const visible = mounts.filter((mount) => this.#mountAt(mount.point) === mount);
    this.#points = visible.map(({ point }) => point).sort();
    this.kernelMounts = visible.flatMap(({ type, point }) => {
      const usual = KERNEL_TYPES.get(type);
      return usual === undefined || isWithin(point, usual) || isWithin(usual, point) ? [] : [point];
    });
    this.#addViews(visible);
  }

  /** Returns the paths with all their further paths. `within` includes those of file systems mounted in the paths. */
  withAliases(paths: readonly string[], options: { within?: boolean } = {}): string[] {
    return [...paths, ...this.aliases(paths, options)];
  }

  /**
   * Returns the further paths of some paths. If there are too many, those of the parent folders are returned, which
   * include them.
   */
  aliases(paths: readonly string[], { within = false }: { within?: boolean } = {}): string[] {
    if (this.#fileSystems.size === 0) return [];
    const inside = within ? paths.flatMap((path) => this.#mountsWithin(path)) : [];
    for (let named = [...paths, ...inside]; ; named = [...new Set(named.map(folderAbove))]) {
      const found = this.#collect(named);
      if (found) return found;
      if (named.every((path) => folderAbove(path) === path)) throw tooManyMounts();
    }
  }

  /** Returns null if there are too many. */
  #collect(paths: readonly string[]): string[] | null {
    const found = new Set<string>();
    const given = new Set(paths);
    for (const path of paths) {
      for (const alias of this.#aliasesOf(path)) if (!given.has(alias)) found.add(alias);
      if (found.size > MAX_ALIASES) return null;
    }
    return [...found];
  }

  #aliasesOf(path: string): readonly string[] {
    const known = this.#known.get(path);
    if (known) return known;
    const found = new Set([path]);
    // A layer of an overlay can itself be mounted twice. The set grows while it is read.
    for (const each of found) {
      for (const alias of this.#directAliases(each)) found.add(alias);
      if (found.size > MAX_ALIASES) break;
    }
    found.delete(path);
    const aliases = [...found];
    this.#known.set(path, aliases);
    return aliases;
  }

  #directAliases(path: string): string[] {
    const mount = this.#mountAt(path);
    const fileSystem = this.#fileSystems.get(mount.device);
    if (!fileSystem) return [];
    const place = locationIn(mount, path);
    const found: string[] = [];
    for (let above = place; ; above = parentOf(above)) {
      for (const view of fileSystem.views.get(above) ?? []) {
        const alias = moved(place, above, view.point);
        if (view.mount === null || this.#mountAt(alias) === view.mount) found.push(alias);
      }
      if (above === "/") break;
    }
    for (const root of sortedWithin(fileSystem.roots, place)) {
      for (const { point } of fileSystem.views.get(root) ?? []) found.push(point);
      if (found.length > MAX_ALIASES) break;
    }
    return found;
  }

  #mountsWithin(path: string): string[] {
    return sortedWithin(this.#points, path);
  }

  /** Returns the mount that a path without symbolic links is in. A later mount hides an earlier one. */
  #mountAt(path: string): Mount {
    let mount = this.#root;
    for (let end = 0; end >= 0; end = nextEnd(path, end)) {
      const prefix = end === 0 ? "/" : path.slice(0, end);
      for (let above: Mount | undefined = mount; above; above = this.#children.get(childKey(above.id, prefix)))
        mount = above;
    }
    return mount;
  }

  /** Adds the views of the file systems that are visible at several places. */
  #addViews(visible: readonly Mount[]): void {
    const views = new Map<string, View[]>();
    const add = (device: string, view: View) => {
      const known = views.get(device);
      if (known) known.push(view);
      else views.set(device, [view]);
    };
    for (const mount of visible) {
      add(mount.device, { root: mount.root, point: mount.point, mount });
      for (const layer of mount.layers) {
        const below = this.#mountAt(layer);
        if (below.device === mount.device) continue;
        add(below.device, { root: moved(mount.root, "/", locationIn(below, layer)), point: mount.point, mount });
        add(mount.device, { root: "/", point: layer, mount: null });
      }
    }
    for (const [device, each] of views) {
      if (!overlap(each)) continue;
      const byRoot = new Map<string, View[]>();
      for (const view of each) byRoot.set(view.root, [...(byRoot.get(view.root) ?? []), view]);
      this.#fileSystems.set(device, { views: byRoot, roots: [...byRoot.keys()].sort() });
    }
  }
}

/** Reports whether some folder is visible in two of the views. */
function overlap(views: readonly View[]): boolean {
  if (views.length < 2) return false;
  const roots = new Set(views.map(({ root }) => root));
  if (roots.size < views.length) return true;
  return views.some(({ root }) => {
    for (let above = root; above !== "/"; ) {
      above = parentOf(above);
      if (roots.has(above)) return true;
    }
    return false;
  });
}

/** Returns the folder of a path, but not the root directory. */
function folderAbove(path: string): string {
  const folder = parentOf(path);
  return folder === "/" ? path : folder;
}

function childKey(parent: string, point: string): string {
  return `${parent} ${point}`;
}

/** Returns the end of the name that follows in a path, or -1. */
function nextEnd(path: string, end: number): number {
  if (end >= path.length || path === "/") return -1;
  const next = path.indexOf("/", end + 1);
  return next < 0 ? path.length : next;
}

function locationIn({ root, point }: Mount, path: string): string {
  return moved(path, point, root);
}

/** Replaces the folder `from` at the start of a path by `to`. */
function moved(path: string, from: string, to: string): string {
  const rest = from === "/" ? path : path.slice(from.length);
  const joined = to === "/" ? rest : to + (rest === "/" ? "" : rest);
  return joined || "/";
}

/** Returns the elements of a sorted list that are inside a folder. */
function sortedWithin(sorted: readonly string[], folder: string): string[] {
  const prefix = folder === "/" ? "/" : `${folder}/`;
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) < prefix) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (sorted[end]?.startsWith(prefix)) end++;
  return sorted.slice(low, end).filter((path) => path !== folder);
}

function parseMount(line: string): Mount[] {
  const [place = "", source = ""] = line.split(" - ");
  const [id = "", parent = "", device = "", root = "", point = ""] = place.split(" ").map(decode);
  const [type = "", from = "", options = ""] = source.split(" ");
  // The roots of namespaces are no paths.
  if (!root.startsWith("/") || !point.startsWith("/")) return [];
  return [{ id, parent, device, root, point, type, layers: layersOf(type, from, options) }];
}

/** Returns the folders that an overlay shows, or the one that a FUSE file system such as bindfs does. */
function layersOf(type: string, source: string, options: string): string[] {
  const named = type.startsWith("fuse") && !source.startsWith("/dev/") ? [decode(source)] : [];
  if (type === "overlay") {
    for (const option of options.split(",")) {
      const [, value] = /^(?:upperdir|lowerdir\+?|datadir\+?)=(.*)$/.exec(option) ?? [];
      if (value !== undefined) named.push(...layerNames(decode(value)));
    }
  }
  return named.filter((path) => path.startsWith("/") && path !== "/").map((path) => path.replace(/\/+$/, ""));
}

/** Splits a list of layers at its colons. A backslash escapes a colon in a name. */
function layerNames(list: string): string[] {
  return list.split(/(?<!\\):+/).map((name) => name.replace(/\\(.)/g, "$1"));
}

function decode(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function tooManyMounts(): SallyportError {
  return new SallyportError(
    "SandboxUnavailable",
    "Denied paths are visible at too many other places, because file systems are mounted several times. No command is run, because not all of these places can be denied.",
    [{ action: "ask_operator", hint: "The operator can unmount the second mounts; `findmnt` lists all of them." }],
  );
}

/** How often the mount table is read. */
const READ_INTERVAL_MS = 100;

let current: { text: string; table: MountTable; nextRead: number } | null = null;

/** Returns the mount table of this machine: the same object until a mount changes. */
export function mountTable(): MountTable {
  const now = uptimeMs();
  if (current !== null && now < current.nextRead) return current.table;
  const text = readMounts();
  const table = current?.text === text ? current.table : new MountTable(text);
  current = { text, table, nextRead: now + READ_INTERVAL_MS };
  return table;
}

function readMounts(): string {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return ""; // not Linux, or /proc is not mounted
  }
}
