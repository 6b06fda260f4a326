import { lstatSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { LinkResolver } from "../paths/links.ts";
import type { MountTable } from "../paths/mounts.ts";
import { isWithin, nearestReal } from "../workspace.ts";
import { configurationPathOf, configurationPaths } from "./configuration-paths.ts";
import { type ConfiguredPath, configuredPaths, userConfigurations } from "./git/configured-programs.ts";
import {
  type GitDirectory,
  gitDirectoriesIn,
  gitDirectoryOf,
  missingEntries,
  protectedEntries,
  withTarget,
  workingTreeOf,
} from "./git/git-directory.ts";
import type { EmptyEntry } from "./git/git-entries.ts";
import { type LinkedWorktree, linkedWorktree, type TrustContext } from "./git/linked-worktree.ts";

interface ProtectionContext extends TrustContext {
  /** The configured writable paths. A repository directly in one of them is protected too. */
  roots: readonly string[];
  /** The home directories whose git configuration applies to the workspace. */
  homes: readonly string[];
  /** The `.git` entries of repositories deeper in the workspace, and folders that git takes for bare repositories. */
  repositories?: readonly string[];
  /** Reports whether a command created a git directory, so that it is not protected. */
  isCreated?: (directory: string) => boolean;
  mounts: MountTable;
}

interface ProtectedPaths {
  /** Paths that stay read-only, whether they exist or not. */
  readOnly: string[];
  /** Folders of a repository outside the workspace that git writes to when it commits in this linked worktree. */
  writable: string[];
  /** Paths in `readOnly` that can be created empty. A path that does not exist cannot be mounted over. */
  creatable: EmptyEntry[];
  /** Paths in `readOnly` that do not exist and must not, because no empty file in their place is harmless. */
  absent: string[];
}

/** Returns the protected paths of a workspace. */
export function protectedPaths(workspace: string, context: ProtectionContext): ProtectedPaths {
  const { mounts } = context;
  const linked = linkedWorktree(workspace, context);
  const roots = [workspace, ...otherRoots(workspace, context)];
  const found: GitPaths = { readOnly: [], creatable: [], absent: [] };
  for (const root of roots) {
    const isInside = (path: string): boolean =>
      (isWithin(path, root) && path !== root) || (root === workspace && linked !== null && isWithin(path, linked.own));
    for (const git of [join(root, ".git"), ...(root === workspace ? (context.repositories ?? []) : [])]) {
      const paths = repositoryPaths(git, root, linked, context);
      // Git's configuration may name a path in the root by another name.
      found.readOnly.push(...mounts.withAliases(paths.readOnly).filter(isInside));
      found.creatable.push(...paths.creatable.filter(({ path }) => isInside(path)));
      found.absent.push(...mounts.withAliases(paths.absent).filter(isInside));
    }
  }
  const isWritable = (path: string): boolean => roots.some((root) => isWithin(path, root));
  return {
    readOnly: [...new Set(mounts.withAliases([...configurationOf(workspace, context), ...found.readOnly]))],
    writable: linked ? [linked.own, ...linked.shared] : [],
    creatable: found.creatable,
    absent: [...new Set([...found.absent, ...mounts.aliases(found.absent).filter(isWritable)])],
  };
}

/** Returns the paths of settings, with the links that lead to them and the files that they refer to. */
function configurationOf(workspace: string, { homes }: ProtectionContext): string[] {
  const resolver = new LinkResolver();
  return configurationPaths(workspace, homes).flatMap((path) => {
    const { real, links } = resolver.resolve(path);
    if (links.length === 0) return [path];
    // A link to the workspace or to a folder above it would make everything read-only.
    return [path, ...links, real].filter((each) => !isWithin(workspace, each));
  });
}

/** Returns the other writable folders, except those inside a git directory, which the operator named deliberately. */
function otherRoots(workspace: string, { roots }: ProtectionContext): string[] {
  return roots.filter((path) => !isWithin(path, workspace) && !isInGitDirectory(path));
}

type GitPaths = Pick<ProtectedPaths, "readOnly" | "creatable" | "absent">;

/** Returns the protected paths of one repository. `git` is a `.git` entry or a bare repository in a writable folder. */
function repositoryPaths(
  git: string,
  root: string,
  linked: LinkedWorktree | null,
  context: ProtectionContext,
): GitPaths {
  const paths: GitPaths = { readOnly: [], creatable: [], absent: [] };
  const entry = lstat(git);
  const directory = entry && gitDirectoryOf(git);
  // A `.git` file or link names the repository. An agent that changed it could choose the hooks that git runs.
  if (entry && !entry.isDirectory()) paths.readOnly.push(git);
  if (!directory) return paths;
  const { found, whole } = gitDirectoriesIn(directory, directory === linked?.own);
  paths.readOnly.push(...whole);
  for (const each of found) {
    const isOwn = each.path === directory;
    const isInRoot = context.mounts.withAliases([each.path]).some((path) => isWithin(path, root));
    const isReachable = isInRoot || directory === linked?.own;
    if (!isReachable || (!isOwn && context.isCreated?.(each.path))) continue;
    const isBare = isOwn && each.path === git && basename(git).toLowerCase() !== ".git";
    const entries = protectedEntries({ ...each, isBare });
    const configured = configuredOf(each, isOwn ? dirname(git) : workingTreeOf(each), root, context);
    paths.readOnly.push(...entries, ...configured.map(({ path }) => path));
    const missing = configured.filter(({ path }) => lstat(path) === undefined);
    paths.creatable.push(
      ...missingEntries(each),
      ...missing.filter(({ kind }) => kind === "hooks").map(({ path }) => ({ path, isFolder: true })),
    );
    paths.absent.push(
      ...entries.filter((path) => basename(path) === "commondir" && lstat(path) === undefined),
      ...missing.filter(({ kind }) => kind === "settings").map(({ path }) => path),
    );
  }
  return paths;
}

/** Returns the paths in a folder that git executes because of the configuration of a repository or a user. */
function configuredOf(
  directory: GitDirectory,
  workingTree: string,
  root: string,
  { homes }: ProtectionContext,
): ConfiguredPath[] {
  const own = ["config", "config.worktree"].map((name) => join(directory.path, name));
  const shared = directory.isWorktree ? [join(directory.path, "../../config")] : [];
  return homes.flatMap((home) => {
    const files = [...userConfigurations(home), ...shared, ...own];
    return configuredPaths(files, { root, workingTree, home }).flatMap(({ path, kind }) => {
      const { real, missing } = nearestReal(path);
      return [...new Set([...withTarget(path), join(real, ...missing)])].map((each) => ({ path: each, kind }));
    });
  });
}

/**
 * Protected paths of git directories, and the `.git` file of a submodule or worktree. Git writes a file by renaming
 * `NAME.lock` over it.
 */
const GIT_PATH =
  /^(?:.*\/)?\.git(?:$|(?:\/(?:modules|worktrees)\/.+)?\/(?:hooks|config(?:\.worktree)?|commondir|gitdir)(?=$|\/|\.lock$))/;

/** Reports whether a path is a `.git` entry or inside one, compared by name only, as on a file system without case. */
export function isInGitDirectory(path: string): boolean {
  return /\/\.git(?:\/|$)/i.test(path);
}

/** Returns the protected path in `root` that contains a path, compared by name only, or null if there is none. */
export function protectedPathOf(path: string, root: string): string | null {
  const within = path.slice(root.length + 1);
  const git = GIT_PATH.exec(within)?.[0];
  const name = git ?? configurationPathOf(within);
  return name === null ? null : join(root, name);
}

function lstat(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // a parent was replaced by a file, or cannot be searched
  }
}
