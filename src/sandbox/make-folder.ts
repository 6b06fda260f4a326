import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import { SallyportError } from "../core/error.ts";
import { isWithin, nearestReal, resolveInWorkspace, type Scope } from "./workspace.ts";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Makes a folder of the workspace where it is missing, for what Sallyport itself puts there (`.tmp/exec`). Each name is
 * made and entered through the descriptor of the one above, so that a link swapped in meanwhile leads nowhere.
 */
export function makeFolder(scope: Scope, path: string): string {
  if (scope.elsewhere) return resolveInWorkspace(scope, path, "logFile"); // made where the command runs
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
  return new SallyportError("PathOutOfScope", `The folder ${path} does not lie in the workspace.`, [
    { action: "check_scope", hint: "Remove what is in its place: it must be a folder of the workspace." },
  ]);
}
