import { lstatSync, type Stats } from "node:fs";
import { basename, join } from "node:path";
import { isWithin, nearestReal } from "../workspace.ts";
import { configuredPrograms, userConfigurations } from "./git/configured-programs.ts";
import {
  type GitDirectory,
  gitDirectoriesIn,
  gitDirectoryOf,
  missingEntries,
  protectedEntries,
  withTarget,
  workingTreeOf,
} from "./git/git-directory.ts";
import { linkedWorktree, type TrustContext } from "./git/linked-worktree.ts";

/**
 * Paths in a workspace that are executed later outside the sandbox, by an editor, an agent or a shell that a person
 * starts there. Files of builds and test runners are not among them, because agents are expected to change those.
 */
const CONFIGURATION_PATHS = `sallyport.json .vscode .idea .cursor .zed .fleet .windsurf .claude .codex .gemini .mcp.json
  .gitconfig .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .config/fish
  .config/autostart .config/systemd .local/bin .local/share/applications .hg/hgrc .hg/hgrc-not-shared .hg/sharedpath
  .jj/repo/config.toml .jj/workspace-config.toml .sl/config`.split(/\s+/);

interface ProtectionContext extends TrustContext {
  /** The home directories whose git configuration applies to the workspace. */
  homes: readonly string[];
  /** The `.git` entries of repositories deeper in the workspace, and folders that git takes for bare repositories. */
  repositories?: readonly string[];
  /** Reports whether a command created a git directory, so that it is not protected. */
  isCreated?: (directory: string) => boolean;
}

interface ProtectedPaths {
  /** Paths that stay read-only, whether they exist or not. */
  readOnly: string[];
  /** Folders of a repository outside the workspace that git writes to when it commits in this linked worktree. */
  writable: string[];
  /** Paths in `readOnly` that can be created empty. A path that does not exist cannot be mounted over. */
  creatable: string[];
  /** Paths in `readOnly` that do not exist and must not, because no empty file in their place is harmless. */
  absent: string[];
}

/** Returns the paths of settings of editors, agents and shells in a workspace. */
export function configurationPaths(workspace: string): string[] {
  return CONFIGURATION_PATHS.map((name) => join(workspace, name));
}

/** Returns the protected paths of a workspace. */
export function protectedPaths(workspace: string, context: ProtectionContext): ProtectedPaths {
  const root = join(workspace, ".git");
  const linked = linkedWorktree(workspace, context);
  const isInside = (path: string): boolean =>
    isWithin(path, workspace) || (linked !== null && isWithin(path, linked.own));
  const ofGit: string[] = [];
  const creatable: string[] = [];
  for (const git of [root, ...(context.repositories ?? [])]) {
    const entry = lstat(git);
    const directory = entry && gitDirectoryOf(git);
    // A `.git` file or link names the repository. An agent that changed it could choose the hooks that git runs.
    if (entry && !entry.isDirectory()) ofGit.push(git);
    if (!directory) continue;
    const { found, whole } = gitDirectoriesIn(directory, directory === linked?.own);
    ofGit.push(...whole);
    for (const each of found) {
      if (!isInside(each.path) || (each.path !== directory && context.isCreated?.(each.path))) continue;
      const isBare = each.path === git && basename(git).toLowerCase() !== ".git";
      ofGit.push(...protectedEntries({ ...each, isBare }), ...programsOf(each, workspace, context));
      creatable.push(...missingEntries(each));
    }
  }
  const inside = [...new Set(ofGit)].filter((path) => isInside(path) && path !== workspace);
  return {
    readOnly: [...configurationPaths(workspace), ...inside],
    writable: linked ? [linked.own, ...linked.shared] : [],
    creatable,
    absent: inside.filter((path) => basename(path) === "commondir" && lstat(path) === undefined),
  };
}

/** Returns the paths in the workspace that git executes because of the configuration of a repository or a user. */
function programsOf(directory: GitDirectory, workspace: string, { homes }: ProtectionContext): string[] {
  const own = ["config", "config.worktree"].map((name) => join(directory.path, name));
  const shared = directory.isWorktree ? [join(directory.path, "../../config")] : [];
  const workingTree = workingTreeOf(directory);
  return homes.flatMap((home) => {
    const files = [...userConfigurations(home), ...shared, ...own];
    return configuredPrograms(files, { workspace, workingTree, home }).flatMap((path) => {
      const { real, missing } = nearestReal(path);
      return [...withTarget(path), join(real, ...missing)];
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
  const name = git ?? CONFIGURATION_PATHS.find((one) => within === one || within.startsWith(`${one}/`));
  return name === undefined ? null : join(root, name);
}

function lstat(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // a parent was replaced by a file, or cannot be searched
  }
}
