import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, relative } from "node:path";
import { SallyportError } from "../contract/error.ts";

/** Where the paths of a request may lead. */
export interface Scope {
  /** The workspace, links followed. */
  root: string;
  /** Paths may lead out of the workspace. For people at a keyboard; agents have no say in it. */
  anywhere: boolean;
  /** Sallyport's own folders: out of bounds even where they lie within the workspace (promise 7). */
  keepOut: readonly string[];
}

/** A checked path. It holds no links, so whoever opens it can insist on meeting none. */
export interface Place {
  path: string;
  /** The keeper opens `path` beneath this folder and nowhere else; null: it may lie anywhere. */
  root: string | null;
}

export type PathParameter = "cwd" | "logFile";

/** Follows the links of the workspace and of the folders to keep out of, once per gateway. */
export function workspaceScope(
  workspace: string,
  { anywhere = false, keepOut = [] }: { anywhere?: boolean; keepOut?: readonly string[] } = {},
): Scope {
  let root: string;
  try {
    root = realpathSync.native(workspace);
  } catch (error) {
    throw noWorkspace(workspace, error as NodeJS.ErrnoException);
  }
  if (!lstatSync(root).isDirectory()) throw noWorkspace(workspace, { code: "ENOTDIR" });
  return { root, anywhere, keepOut: keepOut.map((folder) => follow(folder) ?? folder) };
}

/**
 * Where a path of a request really leads. It must lie in the workspace: not by its name (`/work` and `/workshop` share
 * a prefix, `a/../..` and links share nothing) but by where the kernel finds it. A folder must exist; a file need not,
 * its folder does. What changes after this check the keeper notices, for it opens the place beneath the root itself.
 */
export function resolveInWorkspace(scope: Scope, path: string | undefined, what: PathParameter): Place {
  if (path === undefined) return { path: scope.root, root: scope.root };
  // Joined as text: taking `link/..` apart by name would skip where the link leads.
  const asked = isAbsolute(path) ? path : `${scope.root}/${path}`;
  const real = what === "cwd" ? folder(asked, path) : file(asked, path);
  const inside = isWithin(real, scope.root);
  if (!inside && !scope.anywhere) throw outOfScope(what, path, "lies outside the workspace", scope);
  if (scope.keepOut.some((own) => isWithin(real, own))) {
    throw outOfScope(what, path, "lies in a folder of Sallyport's own", scope);
  }
  return { path: real, root: inside && !scope.anywhere ? scope.root : null };
}

/** By whole names, never by prefix: `/workshop` is not within `/work`. */
export function isWithin(path: string, folder: string): boolean {
  if (path === folder || folder === "/") return true;
  return path.startsWith(folder) && path[folder.length] === "/";
}

/** The place as the workspace sees it, for people and logs. */
export function relativeTo(scope: Scope, place: Place): string {
  return isWithin(place.path, scope.root) ? relative(scope.root, place.path) || "." : place.path;
}

function follow(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

function folder(asked: string, path: string): string {
  try {
    return realpathSync.native(asked);
  } catch (error) {
    throw noFolder("cwd", path, error as NodeJS.ErrnoException);
  }
}

function file(asked: string, path: string): string {
  const existing = exists(asked) ? follow(asked) : null;
  if (existing !== null) return existing;
  const name = basename(asked);
  if (name === "" || name === "." || name === ".." || asked.endsWith("/")) {
    throw noFolder("logFile", path, { code: "ENOENT" });
  }
  try {
    const place = `${slashless(realpathSync.native(dirname(asked)))}/${name}`;
    // A link that leads nowhere yet would be created where it points.
    if (isLink(place))
      throw new SallyportError("PathOutOfScope", `\`logFile\`: ${path} is a broken link.`, CHECK_SCOPE);
    return place;
  } catch (error) {
    if (error instanceof SallyportError) throw error;
    throw noFolder("logFile", path, error as NodeJS.ErrnoException);
  }
}

function slashless(path: string): string {
  return path === "/" ? "" : path;
}

/** Cheaper than a failed attempt to follow: a log file mostly is not there yet. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

const CHECK_SCOPE = [
  { action: "check_scope", hint: "Name a place in the workspace, relative to it or by its full path." },
];

function outOfScope(what: PathParameter, path: string, why: string, scope: Scope): SallyportError {
  const hint = `Name a place within ${scope.root}, or leave \`${what}\` out.`;
  return new SallyportError("PathOutOfScope", `\`${what}\`: ${path} ${why}.`, [{ action: "check_scope", hint }], {
    path,
    workspace: scope.root,
  });
}

function noFolder(what: PathParameter, path: string, { code }: Pick<NodeJS.ErrnoException, "code">): SallyportError {
  if (code === "ELOOP")
    return new SallyportError("PathOutOfScope", `\`${what}\`: ${path} is a circle of links.`, CHECK_SCOPE);
  const why = code === "ENOTDIR" ? "leads through a file" : code === "EACCES" ? "may not be entered" : "does not exist";
  const part = what === "cwd" ? path : `the folder of ${path}`;
  const hint = "Name an existing folder, or leave it out for the workspace.";
  return new SallyportError("WorkdirNotFound", `\`${what}\`: ${part} ${why}.`, [{ action: "check_scope", hint }], {
    path,
  });
}

function noWorkspace(workspace: string, { code }: Pick<NodeJS.ErrnoException, "code">): SallyportError {
  const why = code === "ENOTDIR" ? "is not a folder" : code === "EACCES" ? "may not be entered" : "does not exist";
  return new SallyportError("WorkdirNotFound", `The workspace ${workspace} ${why}.`, [
    { action: "check_scope", hint: "Name an existing folder as the workspace." },
  ]);
}
