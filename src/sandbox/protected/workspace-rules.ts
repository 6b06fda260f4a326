import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../../core/settings.ts";
import { type Access, type BasePaths, configuredAccess } from "../access.ts";
import type { MountTable } from "../paths/mounts.ts";
import type { CommandUser } from "../user.ts";
import { isWithin } from "../workspace.ts";
import type { EmptyEntry } from "./git/git-entries.ts";
import type { RepositoryIndex } from "./git/repository-index.ts";
import { protectedPaths } from "./protected-paths.ts";

/** The access to a workspace and its protected paths. */
export interface WorkspaceRules {
  configured: Access;
  /** The configured access with the profile `workspace-write`, for requests that can write. */
  writing: Access;
  readOnly: string[];
  /** Protected paths of git that can be created empty, so that they can be mounted over. */
  creatable: EmptyEntry[];
  /** Protected paths of git that must not exist. */
  absent: string[];
}

interface RulesInput {
  settings: Settings;
  places: BasePaths;
  /** The private temporary directory. */
  temporary: string;
  user: CommandUser | null;
  /** The home directories whose git configuration applies. */
  homes: readonly string[];
  index: RepositoryIndex;
  mounts: MountTable;
}

export function workspaceRules({
  settings,
  places,
  temporary,
  user,
  homes,
  index,
  mounts,
}: RulesInput): WorkspaceRules {
  const writing = configuredAccess({ ...settings, sandbox: "workspace-write" }, places);
  const own = process.getuid?.() ?? 0;
  const { readOnly, writable, creatable, absent } = protectedPaths(places.workspace, {
    roots: writing.writable,
    writable: mounts.withAliases([...writing.writable, temporary]),
    users: [own, user?.ids.uid ?? own, lstatSync(places.workspace).uid],
    homes,
    repositories: settings.sandbox === "off" ? [] : index.repositories(),
    isCreated: (directory) => index.isCreated(directory),
    mounts,
  });
  const lifted = requestedProtectedPaths(writing.writable, readOnly, writing.writable);
  const isKept = (path: string): boolean => !lifted.includes(path);
  const withRepository = (access: Access): Access =>
    access.profile === "read-only" ? access : { ...access, writable: [...access.writable, ...writable] };
  return {
    configured: withRepository(configuredAccess(settings, places)),
    writing: withRepository(writing),
    readOnly: readOnly.filter(isKept),
    creatable: creatable.filter(({ path }) => isKept(path)),
    absent: absent.filter(isKept),
  };
}

/**
 * Returns the protected paths that a list of writable paths requests: by naming the path, a parent folder, or a file in
 * it. `configured` are the configured writable paths; naming the outermost of these requests nothing.
 */
export function requestedProtectedPaths(
  writable: readonly string[],
  paths: readonly string[],
  configured: readonly string[],
): string[] {
  const roots = configured.filter((path) => !configured.some((other) => other !== path && isWithin(path, other)));
  const named = writable.filter((path) => !roots.includes(path) && roots.some((root) => isWithin(path, root)));
  return paths.filter((protectedPath) =>
    named.some((path) => isWithin(protectedPath, path) || isWithin(path, protectedPath)),
  );
}

/** Identifies the `.git` of a workspace, which is a folder, a file, a link or missing. */
export function gitIdentity(workspace: string): string {
  const found = lstatSync(join(workspace, ".git"), { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.mode}` : "";
}
