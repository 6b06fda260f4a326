import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * Files of a workspace that run, or make something run, later and outside: in an editor, an agent or a shell that a
 * person opens there. What a build or a test runner reads is not among them: changing that is an agent's work.
 */
const CONFIGURATION_PATHS = `sallyport.json .vscode .idea .cursor .zed .fleet .windsurf .claude .codex .gemini .mcp.json
  .gitconfig .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .config/fish
  .config/autostart .config/systemd .local/bin .local/share/applications`.split(/\s+/);

/** Of a repository: git runs the first, takes commands from the next two, and looks for all three where the last says. */
const REPOSITORY_PATHS = ["hooks", "config", "config.worktree", "commondir"];
/** Of a linked worktree's own part of its repository. */
const WORKTREE_PATHS = ["commondir", "gitdir", "config.worktree"];

/** Submodules may have submodules; nobody nests them deeper. */
const MAX_MODULE_DEPTH = 4;
const MAX_MODULES = 200;

interface ProtectedPaths {
  /** To be left as they are, whether they exist or not. */
  readOnly: string[];
  /** Of a repository that lies elsewhere, what git has to write for a commit in this worktree. */
  writable: string[];
}

/** What within a workspace stays read-only although the rest may be written. */
export function protectedPaths(workspace: string): ProtectedPaths {
  const readOnly = CONFIGURATION_PATHS.map((name) => join(workspace, name));
  const git = join(workspace, ".git");
  const kind = lstatSync(git, { throwIfNoEntry: false });
  if (!kind?.isDirectory()) {
    // A file that names the repository: pointed elsewhere, it would bring hooks of the agent's choice.
    const { own, shared } = (kind?.isFile() && worktreeOf(git)) || { own: [], shared: [] };
    const worktreePaths = own.flatMap((folder) => WORKTREE_PATHS.map((name) => join(folder, name)));
    return { readOnly: [...readOnly, git, ...worktreePaths], writable: [...own, ...shared] };
  }
  const repositories = [git, ...modulesIn(join(git, "modules"), 0)];
  const repositoryPaths = repositories.flatMap((folder) => REPOSITORY_PATHS.map((name) => join(folder, name)));
  return { readOnly: [...readOnly, ...repositoryPaths], writable: [] };
}

/** The protected path of a writable folder that a path belongs to, by its name alone; null: none. */
export function protectedPathOf(path: string, root: string): string | null {
  const within = path.slice(root.length + 1);
  // Git writes a file by renaming `NAME.lock` over it.
  const git = /^(?:.*\/)?\.git(?:\/modules\/.+)?\/(?:hooks|config(?:\.worktree)?|commondir)(?=$|\/|\.lock$)/.exec(
    within,
  )?.[0];
  const name = git ?? CONFIGURATION_PATHS.find((one) => within === one || within.startsWith(`${one}/`));
  return name === undefined ? null : join(root, name);
}

/** Repositories of submodules, which lie in that of the whole. */
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
    // A name with a slash in it is a folder on the way to the repository.
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
 * A linked worktree commits into the repository it belongs to. That one must name this worktree in turn: only who may
 * write there can have made it so, and an agent that writes a `.git` file of its own gains nothing by it.
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

/** The file system's clock goes in steps and is behind by up to one. */
const CLOCK_STEP_MS = 10;
/** Which were told of, so that the next command is not blamed as well. */
const reported = new Set<string>();
const MAX_REPORTED = 1000;

/**
 * Protected paths that came to be while a command ran: what is not there cannot be mounted over, so a person should
 * look at it. Two looks for most commands; the rest only where something was made in the folders that hold them.
 */
export function newProtectedPaths(workspace: string, sinceMs: number): string[] {
  const since = sinceMs - CLOCK_STEP_MS;
  try {
    const folders = [workspace, join(workspace, ".git")];
    if (!folders.some((folder) => (lstat(folder)?.mtimeMs ?? 0) >= since)) return [];
    return protectedPaths(workspace).readOnly.filter((path) => {
      const found = lstat(path);
      // No time of birth on this file system: nobody can tell.
      if (!found || found.birthtimeMs < since || found.birthtimeMs === 0) return false;
      return (
        !(found.isDirectory() && isEmptyOrSamples(path)) && isUnreported(`${path} ${found.ino} ${found.birthtimeMs}`)
      );
    });
  } catch {
    return []; // removed, or being changed under our eyes
  }
}

function lstat(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** An empty folder, or one with git's own samples of hooks. */
function isEmptyOrSamples(folder: string): boolean {
  return readdirSync(folder).every((name) => name.endsWith(".sample"));
}

function isUnreported(path: string): boolean {
  if (reported.has(path)) return false;
  if (reported.size >= MAX_REPORTED) reported.clear();
  reported.add(path);
  return true;
}
