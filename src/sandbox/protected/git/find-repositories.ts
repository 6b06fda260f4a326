import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { gitDirectoryOf } from "./git-directory.ts";
import { gitlinksOf } from "./gitlinks.ts";
import { linkedFileIn } from "./hard-links.ts";

/** Folders of installed packages and build output, which are large and in which a person rarely uses git. */
const SKIPPED = new Set(
  `node_modules bower_components .venv venv site-packages __pycache__ .tox .nox .mypy_cache .pytest_cache .gradle .m2
  .cargo .rustup .pnpm-store .yarn .next .nuxt .turbo .parcel-cache .terraform .cache .npm .sallyport`.split(/\s+/),
);
/** Folders of packages that package managers fill with hard links to a store outside the workspace. */
const PACKAGES = new Set(["node_modules", ".venv", "venv"]);

/** The maximum number of folders that one scan reads, and their depth. */
const MAX_FOLDERS = 20_000;
const MAX_DEPTH = 12;
/** The number of folders that are read at once. */
const MIN_FOLDERS = 64;
const MAX_FOUND = 200;

/** A scan of a workspace for repositories, nearest folders first. Symbolic links are not followed. */
export class RepositoryScan {
  /** The `.git` entries in the workspace, and folders that git takes for bare repositories. */
  readonly repositories: string[] = [];
  /** A file in the workspace that is a hard link to a file outside it, or null. */
  linkedFile: string | null = null;
  readonly #pending: [folder: string, depth: number][];
  #next = 0;

  constructor(workspace: string) {
    this.#pending = [[workspace, 0]];
  }

  /** Whether all folders were read, or as many as a scan may read. */
  get isDone(): boolean {
    return this.#next >= Math.min(this.#pending.length, MAX_FOLDERS) || this.repositories.length >= MAX_FOUND;
  }

  /** Whether the scan ended before it had read all folders. */
  get isTruncated(): boolean {
    return this.isDone && this.#next < this.#pending.length;
  }

  /** Reads folders until the scan is done or the time is up, but at least a few, even on a busy machine. */
  advance(milliseconds: number): void {
    const end = performance.now() + milliseconds;
    const least = this.#next + MIN_FOLDERS;
    while (!this.isDone && (this.#next < least || performance.now() < end)) {
      const [folder, depth] = this.#pending[this.#next++] as [string, number];
      this.#read(folder, depth);
    }
  }

  #read(folder: string, depth: number): void {
    const entries = entriesOf(folder);
    if (isBare(entries)) this.repositories.push(folder);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      // The name is compared as on a file system that ignores case.
      if (entry.name.toLowerCase() === ".git") {
        this.repositories.push(path);
        this.#addSubmodules(folder, path, depth);
        if (entry.isDirectory()) this.linkedFile ??= linkedFileIn(join(path, "objects"));
      } else if (!entry.isDirectory()) continue;
      else if (PACKAGES.has(entry.name)) this.linkedFile ??= linkedFileIn(path);
      else if (depth < MAX_DEPTH && !SKIPPED.has(entry.name)) this.#pending.push([path, depth + 1]);
    }
  }

  /** Adds the submodules in skipped folders. `git status` in the repository reads their settings, too. */
  #addSubmodules(folder: string, git: string, depth: number): void {
    const directory = gitDirectoryOf(git);
    const links = directory === null ? [] : gitlinksOf(directory);
    for (const link of links.filter((path) => isSkipped(path, depth))) this.#pending.push([join(folder, link), depth]);
  }
}

/** Reports whether the scan does not reach a folder at a relative path. */
function isSkipped(path: string, depth: number): boolean {
  const names = path.split("/");
  return depth + names.length > MAX_DEPTH || names.some((name) => SKIPPED.has(name));
}

/** Reports whether git takes a folder with these entries for a bare repository, and would read its `config`. */
function isBare(entries: readonly Dirent[]): boolean {
  const has = (name: string) => entries.some((entry) => entry.name === name);
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // removed in the meantime, or not readable
  }
}
