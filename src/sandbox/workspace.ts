import { closeSync, constants, lstatSync, mkdirSync, openSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, isAbsolute, normalize, relative } from "node:path";
import { SallyportError } from "../core/error.ts";

/** Where the paths of a request may lead. */
export interface Scope {
  /** The workspace, links followed. */
  root: string;
  /** Paths may lead out of the workspace. For people at a keyboard; agents have no say in it. */
  anywhere: boolean;
  /** Its folders are on other machines: paths are taken by their names, and looked at where the command runs. */
  remote: boolean;
  /** Sallyport's own folders: out of bounds even where they lie within the workspace (promise 7). */
  keepOut: readonly string[];
}

export type PathParameter = "cwd" | "logFile";

/** Follows the links of the workspace and of the folders to keep out of, once per gateway. */
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
 * Where a path of a request really leads. It must lie in the workspace: not by its name (`/work` and `/workshop` share
 * a prefix, `a/../..` and links share nothing) but by where the kernel finds it. A folder must exist; a file need not,
 * its folder does. The answer holds no links, and the keeper opens it beneath the root insisting on that: what changes
 * after this check is noticed.
 */
export function resolveInWorkspace(scope: Scope, path: string | undefined, what: PathParameter): string {
  if (path === undefined) return scope.root;
  // Joined as text: taking `link/..` apart by name would skip where the link leads.
  const asked = isAbsolute(path) ? path : `${scope.root}/${path}`;
  if (scope.remote) return resolveByName(scope, asked, path, what);
  const real = what === "cwd" ? realpathOrNull(asked) : realFilePath(asked);
  // What is not there is judged by where its nearest folder lies: nobody learns what exists elsewhere.
  if (!scope.anywhere && !isWithin(real ?? nearestReal(dirname(asked)).real, scope.root)) {
    throw outOfScope(what, path, "is outside the workspace", scope);
  }
  if (real === null && isLink(asked))
    throw outOfScope(what, path, "is a symbolic link whose target does not exist", scope);
  if (real === null) throw notFound(what, path, asked);
  if (scope.keepOut.some((own) => isWithin(real, own))) {
    throw outOfScope(what, path, "is in a folder that Sallyport keeps for itself", scope);
  }
  return real;
}

/** As far as names go; where it runs, this is asked again of the folders that are there. */
function resolveByName(scope: Scope, asked: string, path: string, what: PathParameter): string {
  const plain = normalize(asked).replace(/(?<=.)\/+$/, "");
  if (scope.anywhere || isWithin(plain, scope.root)) return plain;
  throw outOfScope(what, path, "is outside the workspace", scope);
}

/** By whole names, never by prefix: `/workshop` is not within `/work`. */
export function isWithin(path: string, folder: string): boolean {
  if (path === folder || folder === "/") return true;
  return path.startsWith(folder) && path[folder.length] === "/";
}

/** Null: it does not exist, or may not be looked at. */
function realpathOrNull(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/** Where a file is or would be made. Null: it has no folder, or its name is a link that leads nowhere yet. */
function realFilePath(path: string): string | null {
  // Looking is cheaper than a failed attempt to follow, and a log file mostly is not there yet.
  if (lstatOrNull(path)) return realpathOrNull(path);
  const name = basename(path);
  const folder = name === ".." || path.endsWith("/") ? null : realpathOrNull(dirname(path));
  return folder === null ? null : `${folder === "/" ? "" : folder}/${name}`;
}

function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null; // one of its folders is a file, or closed: following it will fail too
  }
}

function isLink(path: string): boolean {
  return lstatOrNull(path)?.isSymbolicLink() ?? false;
}

/** As much of a path as there is, links followed, and the names that are not there. */
export function nearestReal(path: string): { real: string; missing: string[] } {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const real = realpathOrNull(at);
    if (real !== null) return { real, missing };
    missing.unshift(basename(at));
  }
}

function outOfScope(what: PathParameter, path: string, why: string, scope: Scope): SallyportError {
  const hint = `Use a path in \`${scope.root}\`, or omit \`${what}\`.`;
  const message = `The path ${JSON.stringify(path)} in \`${what}\` ${why}.`;
  return new SallyportError("PathOutOfScope", message, [{ action: "check_scope", hint }], {
    path,
    workspace: scope.root,
  });
}

function notFound(what: PathParameter, path: string, asked: string): SallyportError {
  const part = what === "cwd" ? "The path" : "The parent folder of the path";
  const hint =
    what === "cwd"
      ? "Use an existing folder, or omit `cwd` to run in the workspace."
      : `Use a path in an existing folder, or omit \`${what}\`.`;
  const message = `${part} ${JSON.stringify(path)} in \`${what}\` ${missingReason(asked)}.`;
  return new SallyportError("WorkdirNotFound", message, [{ action: "check_scope", hint }], { path });
}

function missingReason(path: string): string {
  try {
    realpathSync.native(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR") return "has a file as one of its parent folders";
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
 * Makes a folder of the workspace where it is missing, for what Sallyport itself puts there (`.tmp/exec`). Each name is
 * made and entered through the descriptor of the one above, so that a link swapped in meanwhile leads nowhere.
 */
export function makeFolder(scope: Scope, path: string): string {
  if (scope.remote) return resolveInWorkspace(scope, path, "logFile"); // made where the command runs
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
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // another may have been quicker
  }
  return enterFolder(place, path);
}

function outsideWorkspace(path: string): SallyportError {
  return new SallyportError("PathOutOfScope", `\`${path}\` is not a folder in the workspace.`, [
    { action: "check_scope", hint: "Remove the file or symbolic link of that name." },
  ]);
}
