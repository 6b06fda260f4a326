import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * Paths in a workspace that are executed later outside the sandbox, by an editor, an agent or a shell that a person
 * starts there. Files of builds and test runners are not among them, because agents are expected to change those.
 */
const CONFIGURATION_PATHS = `sallyport.json .vscode .idea .cursor .zed .fleet .windsurf .claude .codex .gemini .mcp.json
  .gitconfig .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .config/fish
  .config/autostart .config/systemd .local/bin .local/share/applications`.split(/\s+/);

/**
 * Protected paths of a repository: hooks, configuration that can contain commands, and the pointer to their location.
 */
const REPOSITORY_PATHS = ["hooks", "config", "config.worktree", "commondir"];
/** Protected paths of a linked worktree's folder in its repository. */
const WORKTREE_PATHS = ["commondir", "gitdir", "config.worktree"];

/** The maximum nesting of submodules that is searched. */
const MAX_MODULE_DEPTH = 4;
const MAX_MODULES = 200;

interface ProtectedPaths {
  /** Paths that stay read-only, whether they exist or not. */
  readOnly: string[];
  /** Folders of a repository outside the workspace that git writes to when it commits in this linked worktree. */
  writable: string[];
}

/** Returns the protected paths of a workspace. */
export function protectedPaths(workspace: string): ProtectedPaths {
  const readOnly = CONFIGURATION_PATHS.map((name) => join(workspace, name));
  const git = join(workspace, ".git");
  const kind = lstatSync(git, { throwIfNoEntry: false });
  if (!kind?.isDirectory()) {
    // A `.git` file names the repository. An agent that changed it could choose the hooks that git runs.
    const { own, shared } = (kind?.isFile() && worktreeOf(git)) || { own: [], shared: [] };
    const worktreePaths = own.flatMap((folder) => WORKTREE_PATHS.map((name) => join(folder, name)));
    return { readOnly: [...readOnly, git, ...worktreePaths], writable: [...own, ...shared] };
  }
  const repositories = [git, ...modulesIn(join(git, "modules"), 0)];
  const repositoryPaths = repositories.flatMap((folder) => REPOSITORY_PATHS.map((name) => join(folder, name)));
  return { readOnly: [...readOnly, ...repositoryPaths], writable: [] };
}

/** Returns the protected path in `root` that contains a path, compared by name only, or null if there is none. */
export function protectedPathOf(path: string, root: string): string | null {
  const within = path.slice(root.length + 1);
  // Git writes a file by renaming `NAME.lock` over it.
  const git = /^(?:.*\/)?\.git(?:\/modules\/.+)?\/(?:hooks|config(?:\.worktree)?|commondir)(?=$|\/|\.lock$)/.exec(
    within,
  )?.[0];
  const name = git ?? CONFIGURATION_PATHS.find((one) => within === one || within.startsWith(`${one}/`));
  return name === undefined ? null : join(root, name);
}

/** Returns the repositories of submodules, which are folders in the main repository. */
function modulesIn(folder: string, depth: number): string[] {
  if (depth >= MAX_MODULE_DEPTH) return [];
  let names: string[];
  try {
    names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
  const found = names.slice(0, MAX_MODULES).flatMap((name) => {
    const place = join(folder, name);
    // The name of a submodule may contain slashes, so this may be a parent folder of a repository.
    const below = isRepository(place)
      ? [place, ...modulesIn(join(place, "modules"), depth + 1)]
      : modulesIn(place, depth + 1);
    return below;
  });
  return found.slice(0, MAX_MODULES);
}

function isRepository(folder: string): boolean {
  return lstatSync(join(folder, "HEAD"), { throwIfNoEntry: false }) !== undefined;
}

/**
 * Returns the folders that a linked worktree writes to in its repository, or null. The repository must name this
 * worktree in turn, which requires write access to it: otherwise an agent could create a `.git` file to gain write
 * access.
 */
function worktreeOf(git: string): { own: string[]; shared: string[] } | null {
  try {
    const named = /^gitdir: (.+)$/m.exec(readFileSync(git, "utf8").slice(0, 4096))?.[1];
    if (named === undefined) return null;
    const own = realpathSync.native(resolve(git, "..", named));
    const back = resolve(own, readFileSync(join(own, "gitdir"), "utf8").trim());
    if (realpathSync.native(back) !== realpathSync.native(git)) return null;
    const common = realpathSync.native(resolve(own, readFileSync(join(own, "commondir"), "utf8").trim()));
    return { own: [own], shared: ["objects", "refs", "logs"].map((name) => join(common, name)) };
  } catch {
    return null;
  }
}
