import { accessSync, chmodSync, constants, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { callerEnv, callerHome, callerPath } from "../core/caller.ts";
import { SallyportError } from "../core/error.ts";
import { operatorStep } from "../core/next-step.ts";
import { writeFailure } from "./database.ts";

function unusable(folder: string, message: string, hint: string): SallyportError {
  return new SallyportError("StateUnusable", `The state folder \`${folder}\` ${message}.`, [
    { action: "fix_state", hint },
    operatorStep("other_state", "Or use another state folder with `--state DIR` or `SALLYPORT_STATE`."),
  ]);
}

/** Returns `$SALLYPORT_STATE`, or `$XDG_STATE_HOME/sallyport`, or `~/.local/state/sallyport`. */
export function defaultState(env: NodeJS.ProcessEnv = callerEnv()): string {
  if (env.SALLYPORT_STATE) return callerPath(env.SALLYPORT_STATE);
  // The specification of these variables says to ignore relative paths.
  const base = env.XDG_STATE_HOME && isAbsolute(env.XDG_STATE_HOME) ? env.XDG_STATE_HOME : null;
  return join(base ?? join(callerHome(), ".local/state"), "sallyport");
}

/**
 * Creates a folder and its parents. Node's recursive mkdir loops forever if the file system fails with ENOENT (/proc).
 */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || lstatSync(dirname(folder), { throwIfNoEntry: false })) throw error;
    makeFolder(dirname(folder));
    makeFolder(folder); // Another gateway may have created it in the meantime.
  }
}

/** Creates the folder if it does not exist and makes it private to its owner (invariant 7). */
export function openStateFolder(path: string): string {
  const folder = resolve(path);
  let real: string;
  try {
    makeFolder(folder);
    real = realpathSync(folder);
  } catch (error) {
    throw unusable(folder, `cannot be created (${(error as Error).message})`, "Check its path and permissions.");
  }
  const status = lstatSync(real);
  if (!status.isDirectory()) throw unusable(folder, "is not a folder", "Move the file away.");
  const uid = process.getuid?.();
  if (uid !== undefined && status.uid !== uid) {
    throw unusable(folder, `belongs to another user (uid ${status.uid})`, "Use a separate state folder for each user.");
  }
  try {
    if ((status.mode & 0o077) !== 0) chmodSync(real, 0o700);
    accessSync(real, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EROFS") throw writeFailure(folder, "read-only");
    throw unusable(folder, "is not writable", "Make it writable.");
  }
  return real;
}
