import { lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import type { EmptyEntry } from "./git-entries.ts";
import { gitFileTarget } from "./linked-worktree.ts";

/**
 * Entries of a git directory that git writes as data (gitrepository-layout(5)). They cannot make git run a program.
 * `info/attributes` can only choose among configured filters, like `.gitattributes`, and `objects/info/alternates` only
 * adds objects. All other entries are protected, including those of other tools.
 */
const DATA =
  /^(?:[A-Z][A-Z_]*|objects|refs|logs|info|branches|description|index|(?:index|sharedindex)\..+|packed-refs|rebase-(?:merge|apply)|sequencer|shallow|gc\.(?:log|pid)|rr-cache|reftable|lfs|annex|worktrees|modules|locked|fsmonitor--daemon.*|.+\.lock)$/;

/**
 * Entries that are protected even if they do not exist: hooks, configuration that can contain commands, and pointers to
 * the folder that contains these.
 */
const REPOSITORY_PATHS = ["hooks", "config", "config.worktree", "commondir"];
/** The same for the folder of a linked worktree. Git reads hooks and `config` from the repository itself. */
const WORKTREE_PATHS = ["commondir", "gitdir", "config.worktree"];

/** Reports whether git writes an entry of a git directory as data. */
export function isGitData(name: string): boolean {
  return DATA.test(name);
}

/** The maximum number of folders that are searched for submodules and worktrees, and of their nesting. */
const MAX_FOLDERS = 500;
const MAX_DEPTH = 6;

export interface GitDirectory {
  path: string;
  /** Whether it is the folder of a linked worktree in its repository. */
  isWorktree: boolean;
  /** Whether it is a bare repository in the workspace, which may contain other files as well. */
  isBare?: boolean;
}

/**
 * Returns a git directory with those inside it: the repositories of submodules, and the folders of worktrees. `whole`
 * has the folders that were not searched because there are too many, so that they must be protected as a whole:
 * otherwise a command could hide a submodule among thousands of folders.
 */
export function gitDirectoriesIn(path: string, isWorktree = false): { found: GitDirectory[]; whole: string[] } {
  const found = new Map<string, GitDirectory>();
  const whole: string[] = [];
  const pending = [{ path, isWorktree, isParent: false, depth: 0 }];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    // The name of a submodule may contain slashes, so a folder in `modules` may be a parent of a repository.
    const isParent = next.isParent && lstat(join(next.path, "HEAD")) === undefined;
    if (found.has(next.path)) continue;
    if (!isParent) found.set(next.path, { path: next.path, isWorktree: next.isWorktree });
    const lists = isParent ? [next.path] : [join(next.path, "modules"), join(next.path, "worktrees")];
    for (const list of lists) {
      const folders = foldersIn(list);
      if (next.depth >= MAX_DEPTH || found.size + pending.length + folders.length > MAX_FOLDERS) {
        if (folders.length > 0) whole.push(list);
        continue;
      }
      const inWorktrees = !isParent && list.endsWith("/worktrees");
      for (const folder of folders) {
        pending.push({ path: folder, isWorktree: inWorktrees, isParent: !inWorktrees, depth: next.depth + 1 });
      }
    }
  }
  return { found: [...found.values()], whole };
}

/** Returns the protected paths of one git directory. Links are returned as they are, followed by their targets. */
export function protectedEntries({ path, isWorktree, isBare }: GitDirectory): string[] {
  const always = isWorktree ? WORKTREE_PATHS : REPOSITORY_PATHS;
  const others = (isBare ? [] : entriesOf(path)).filter((name) => !isGitData(name) && !always.includes(name));
  // A link in place of `modules` could be replaced by a folder with other repositories.
  const links = ["modules", "worktrees"].filter((name) => lstat(join(path, name))?.isSymbolicLink());
  return [...always, ...others, ...links].flatMap((name) => withTarget(join(path, name)));
}

/** Returns the protected entries that do not exist and can be created empty, so that they can be mounted over. */
export function missingEntries({ path, isWorktree }: GitDirectory): EmptyEntry[] {
  const names = isWorktree ? ["config.worktree"] : ["hooks", "config", "config.worktree"];
  return names
    .map((name) => ({ path: join(path, name), isFolder: name === "hooks" }))
    .filter((entry) => lstat(entry.path) === undefined);
}

/** Returns a path and, if it is a symbolic link, also its target. */
export function withTarget(path: string): string[] {
  try {
    if (!lstat(path)?.isSymbolicLink()) return [path];
    return [path, realpathSync.native(path)];
  } catch {
    return [path];
  }
}

/** Returns the git directory that a `.git` entry is or refers to, resolved, or null. */
export function gitDirectoryOf(git: string): string | null {
  try {
    const kind = lstat(git);
    const target = kind?.isFile() ? gitFileTarget(git) : kind && git;
    if (!target) return null;
    const real = realpathSync.native(target);
    return lstat(real)?.isDirectory() ? real : null;
  } catch {
    return null;
  }
}

/** Returns the working tree of a git directory: where its relative paths start. */
export function workingTreeOf({ path, isWorktree }: GitDirectory): string {
  const git = isWorktree ? gitFileTarget(join(path, "gitdir"), "") : null;
  return dirname(git ?? path);
}

function lstat(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // a parent is not a folder or cannot be searched
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns the folders in a folder, with links resolved. */
function foldersIn(folder: string): string[] {
  try {
    const real = realpathSync.native(folder);
    return readdirSync(real, { withFileTypes: true })
      .slice(0, MAX_FOLDERS + 1)
      .flatMap((entry) => {
        if (entry.isDirectory()) return [join(real, entry.name)];
        return entry.isSymbolicLink() ? linkedFolder(join(real, entry.name)) : [];
      });
  } catch {
    return [];
  }
}

function linkedFolder(link: string): string[] {
  try {
    const real = realpathSync.native(link);
    return lstatSync(real).isDirectory() ? [real] : [];
  } catch {
    return [];
  }
}
