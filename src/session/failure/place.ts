import { statSync } from "node:fs";
import { constants } from "node:os";
import { shownName } from "../../text/shell-word.ts";
import type { LaunchFailure } from "./launch.ts";

const { errno: E } = constants;

/** The folder to run in, or the file to log to, is not there or not where it should be; null for any other step. */
export function placeFailure(step: string, errno: number, cwd: string): LaunchFailure | null {
  const folder = `The working directory ${shownName(cwd)}`;
  if (step === "chdir") return workdir(folder, cwd, errno);
  if (step === "scope") return outOfScope(folder);
  if (step === "scope-log") {
    return outOfScope(errno === E.EMLINK ? "A file that the log file is another name of" : "The log file");
  }
  return null;
}

function workdir(folder: string, cwd: string, errno: number): LaunchFailure {
  const why =
    errno === E.ENOTDIR || isFile(cwd)
      ? "is not a folder"
      : errno === E.EACCES
        ? "may not be entered"
        : "does not exist";
  const recovery = [{ action: "check_scope", hint: "Name an existing folder, or leave `cwd` out for the workspace." }];
  return { type: "WorkdirNotFound", message: `${folder} ${why}.`, recovery };
}

function isFile(path: string): boolean {
  try {
    return !statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The path was in the workspace when it was checked, and is not any more: somebody moved a link under it. */
function outOfScope(what: string): LaunchFailure {
  return {
    type: "PathOutOfScope",
    message: `${what} does not lie in the workspace.`,
    recovery: [{ action: "check_scope", hint: "Name a place in the workspace that is not changed meanwhile." }],
  };
}
