import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isWithin } from "../../workspace.ts";
import { readSmallFile } from "./read-small-file.ts";

/** A linked worktree (`git worktree add`) whose repository confirms that the workspace belongs to it. */
export interface LinkedWorktree {
  /** The worktree's folder in its repository, `<common>/worktrees/<name>`. */
  own: string;
  /** The folders that all worktrees of the repository share and that a commit writes to. */
  shared: string[];
}

export interface TrustContext {
  /** Paths that commands of the agent can write to: the workspace, writable paths and temporary directories. */
  writable: readonly string[];
  /** Users whose files are trusted, in addition to root: those of the gateway, of its commands and of the workspace. */
  users: readonly number[];
}

const SHARED = ["objects", "refs", "logs"];

/**
 * Returns the linked worktree that a workspace is, or null. An agent can create any file in its workspace, so nothing
 * there is trusted (invariant 7): the `.git` file only says where to look. The repository must be outside all paths
 * that commands can write to, and must itself name the workspace.
 */
export function linkedWorktree(workspace: string, trust: TrustContext): LinkedWorktree | null {
  try {
    const named = gitFileTarget(join(workspace, ".git"));
    if (named === null) return null;
    const own = realpathSync.native(named);
    const worktrees = dirname(own);
    const common = dirname(worktrees);
    if (basename(worktrees) !== "worktrees" || trust.writable.some((root) => isWithin(own, root))) return null;
    const folders = [common, worktrees, own, join(common, "objects"), join(common, "refs")];
    if (!folders.every((folder) => isTrustedFolder(folder, trust))) return null;
    const [back, up] = ["gitdir", "commondir"].map((name) => trustedLine(join(own, name), trust));
    if (!back || up !== "../.." || !trustedLine(join(common, "HEAD"), trust)) return null;
    const listed = resolve(own, back);
    if (basename(listed) !== ".git" || realpathSync.native(dirname(listed)) !== workspace) return null;
    const shared = SHARED.map((name) => join(common, name)).filter((folder) => isTrustedFolder(folder, trust));
    return { own, shared };
  } catch {
    return null; // missing, unreadable or changed in the meantime
  }
}

/** The size up to which git reads a `.git` file. */
const MAX_GIT_FILE = 1 << 20;

/** Returns the path that git takes from a file after a prefix, or null if it is not such a file. */
export function gitFileTarget(path: string, prefix: "gitdir: " | "" = "gitdir: "): string | null {
  const text = readSmallFile(path, MAX_GIT_FILE)?.text ?? "";
  // Git ignores line ends at the end, and everything after a NUL.
  const named = text.startsWith(prefix)
    ? text
        .slice(prefix.length)
        .replace(/[\r\n]+$/, "")
        .split("\0", 1)[0]
    : "";
  return named ? resolve(path, "..", named) : null;
}

function isTrustedFolder(path: string, { users }: TrustContext): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (found.uid === 0 || users.includes(found.uid));
}

function trustedLine(path: string, { users }: TrustContext): string | null {
  const file = readSmallFile(path);
  if (file === null || !(file.uid === 0 || users.includes(file.uid))) return null;
  return /^([^\0\r\n]+)\n*$/.exec(file.text)?.[1] ?? null;
}
