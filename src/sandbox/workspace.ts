import { closeSync, constants, lstatSync, mkdirSync, openSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, isAbsolute, normalize, relative } from "node:path";
import { SallyportError } from "../core/error.ts";
import { nextStep } from "../core/next-step.ts";

/** The folders that the paths of a request may be in. */
export interface Scope {
  /** The workspace, with links resolved. */
  root: string;
  /** Whether paths outside the workspace are allowed. Agents cannot set this. */
  anywhere: boolean;
  /** Whether commands run on other machines. Paths are then compared by name, and resolved by the worker. */
  remote: boolean;
  /** The state folder and the configuration folder, which are denied even within the workspace (invariant 7). */
  keepOut: readonly string[];
}

export type PathParameter = "cwd" | "logFile";

/** Resolves the workspace and the denied folders, once per gateway. Throws WorkdirNotFound. */
export function workspaceScope(
  workspace: string,
  {
    anywhere = false,
    remote = false,
    keepOut = [],
  }: { anywhere?: boolean; remote?: boolean; keepOut?: readonly string[] } = {},
): Scope {
  const root = realpathOrNull(workspace);
  if (root === null) throw noWorkspace(workspace, missingReason(workspace));
  if (!lstatSync(root).isDirectory()) throw noWorkspace(workspace, "is not a folder");
  return { root, anywhere, remote, keepOut: keepOut.map((folder) => realpathOrNull(folder) ?? folder) };
}

/**
 * Resolves a path of a request and checks that it is in the workspace. The resolved path is compared, not the given
 * one, because `a/../..` and links can lead outside. A `cwd` must exist; for a `logFile`, only the parent folder must
 * exist. The result has no links, and the keeper opens it beneath the root without following any, so that a change
 * after this check is detected.
 */
export function resolveInWorkspace(scope: Scope, path: string | undefined, what: PathParameter): string {
  if (path === undefined) return scope.root;
  // Joined as text, because `path.join` would reduce `link/..` without following the link.
  const asked = isAbsolute(path) ? path : `${scope.root}/${path}`;
  if (scope.remote) return resolveByName(scope, asked, path, what);
  const real = what === "cwd" ? realpathOrNull(asked) : realFilePath(asked);
  // For a missing path, the nearest existing folder is checked, so that the error does not reveal which files exist
  // outside the workspace.
  if (!scope.anywhere && !isWithin(real ?? nearestReal(dirname(asked)).real, scope.root)) {
    throw outOfScope(what, path, "is outside the workspace", scope);
  }
  if (real === null && isLink(asked))
    throw outOfScope(what, path, "is a symbolic link whose target does not exist", scope);
  if (real === null) throw notFound(what, path, asked);
  if (scope.keepOut.some((own) => isWithin(real, own))) {
    throw outOfScope(what, path, "is in a folder that is reserved for Sallyport", scope);
  }
  return real;
}

/** Checks a path by its name only. The worker that runs the command resolves it and checks it again. */
function resolveByName(scope: Scope, asked: string, path: string, what: PathParameter): string {
  const plain = normalize(asked).replace(/(?<=.)\/+$/, "");
  if (scope.anywhere || isWithin(plain, scope.root)) return plain;
  throw outOfScope(what, path, "is outside the workspace", scope);
}

/** Reports whether a path is a folder or inside it. Compares whole names: `/workshop` is not in `/work`. */
export function isWithin(path: string, folder: string): boolean {
  if (path === folder || folder === "/") return true;
  return path.startsWith(folder) && path[folder.length] === "/";
}

/** Resolves a path, or returns null if it does not exist or cannot be accessed. */
function realpathOrNull(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/** Resolves the path of a file that may not exist yet. Returns null if its folder is missing or it is a broken link. */
function realFilePath(path: string): string | null {
  // lstat is cheaper than a realpath that fails, and log files usually do not exist yet.
  if (lstatOrNull(path)) return realpathOrNull(path);
  const name = basename(path);
  const folder = name === ".." || path.endsWith("/") ? null : realpathOrNull(dirname(path));
  return folder === null ? null : `${folder === "/" ? "" : folder}/${name}`;
}

function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null; // a parent is a file or cannot be searched, so realpath fails too
  }
}

function isLink(path: string): boolean {
  return lstatOrNull(path)?.isSymbolicLink() ?? false;
}

/** Resolves the existing part of a path. `missing` has the names that do not exist. */
export function nearestReal(path: string): { real: string; missing: string[] } {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const real = realpathOrNull(at);
    if (real !== null) return { real, missing };
    missing.unshift(basename(at));
  }
}

function outOfScope(what: PathParameter, path: string, why: string, scope: Scope): SallyportError {
  const message = `The path ${JSON.stringify(path)} in \`${what}\` ${why}.`;
  return new SallyportError(
    "PathOutOfScope",
    message,
    [nextStep("check_scope", { name: "enter-workspace", parameter: what, workspace: scope.root })],
    {
      path,
      workspace: scope.root,
    },
  );
}

function notFound(what: PathParameter, path: string, asked: string): SallyportError {
  const part = what === "cwd" ? "The path" : "The parent folder of the path";
  const message = `${part} ${JSON.stringify(path)} in \`${what}\` ${missingReason(asked)}.`;
  return new SallyportError(
    "WorkdirNotFound",
    message,
    [nextStep("check_scope", { name: "fix-folder", parameter: what })],
    { path },
  );
}

function missingReason(path: string): string {
  try {
    realpathSync.native(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR") return "has a parent that is not a folder";
    if (code === "EACCES") return "cannot be entered (permission denied)";
    if (code === "ELOOP") return "is a loop of symbolic links";
  }
  return "does not exist";
}

function noWorkspace(workspace: string, why: string): SallyportError {
  return new SallyportError("WorkdirNotFound", `The workspace \`${workspace}\` ${why}.`, [
    { action: "check_scope", hint: "Set the workspace to an existing folder." },
  ]);
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Creates a folder in the workspace for files of Sallyport itself (`.tmp/exec`). Each name is created and opened
 * through the descriptor of its parent, so that a link that replaces a folder in the meantime is not followed.
 */
export function makeFolder(scope: Scope, path: string): string {
  if (scope.remote) return resolveInWorkspace(scope, path, "logFile"); // the worker creates it
  const { real, missing } = nearestReal(isAbsolute(path) ? path : `${scope.root}/${path}`);
  if (!isWithin(real, scope.root) || missing.includes("..")) throw outsideWorkspace(path);
  const names = [...relative(scope.root, real).split("/"), ...missing].filter((name) => name !== "" && name !== ".");
  let at = openSync(scope.root, FOLDER);
  try {
    for (const name of names) {
      const next = enterFolder(`/proc/self/fd/${at}/${name}`, path);
      closeSync(at);
      at = next;
    }
  } finally {
    closeSync(at);
  }
  return [scope.root, ...names].join("/");
}

function enterFolder(place: string, path: string): number {
  try {
    return openSync(place, FOLDER);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw outsideWorkspace(path);
  }
  try {
    mkdirSync(place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // EEXIST: another process created it
  }
  return enterFolder(place, path);
}

function outsideWorkspace(path: string): SallyportError {
  return new SallyportError("PathOutOfScope", `\`${path}\` is not a folder in the workspace.`, [
    { action: "check_scope", hint: "Remove the file or symbolic link with that name." },
  ]);
}
