import { accessSync, constants, existsSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import { quotedName } from "../../text/command-line.ts";
import { interpreterOf, type LookupContext, pathFolders } from "./programs.ts";

interface PermissionProblem {
  /** The problem, as a predicate: the end of a sentence that starts with the program's name. */
  why: string;
  hint: string;
}

/** Determines why the kernel refused to execute a program, by repeating the kernel's checks in the same order. */
export function permissionProblem(program: string, { cwd, path }: LookupContext): PermissionProblem {
  const file = program.includes("/") ? resolve(cwd, program) : firstOnPath(program, path);
  if (file === null) return UNKNOWN;
  const closed = closedFolder(file);
  if (closed !== null) {
    return {
      why: `is in ${closed}, which cannot be entered.`,
      hint: `Ask the folder's owner to run \`chmod +x ${quotedName(closed)}\`.`,
    };
  }
  const stats = statOf(file);
  if (stats === null) return UNKNOWN;
  if (stats.isDirectory())
    return { why: "is a folder.", hint: `Use a program in it, or list it with \`ls ${quotedName(program)}\`.` };
  if (!stats.isFile()) return { why: "is not a regular file.", hint: "Use an executable file." };
  const runner = runnerOf(file);
  if ((stats.mode & 0o111) === 0) return notExecutable(program, runner);
  const mount = noexecMount(realpathSync(file));
  if (mount !== null) {
    const way =
      runner === null
        ? "Copy it to another folder"
        : `Run it with \`${runner} ${quotedName(program)}\`, or copy it to another folder`;
    return { why: `is on ${mount}, which is mounted noexec.`, hint: `${way}.` };
  }
  return mayExecute(file) ? interpreterRefused(file) : onlyForOthers(stats);
}

const UNKNOWN: PermissionProblem = {
  why: "cannot be executed here: its permissions, the sandbox or a security module forbid it.",
  hint: "Check that the command is executable and that its parent folders can be entered.",
};

function notExecutable(program: string, runner: string | null): PermissionProblem {
  const name = quotedName(program);
  const other = runner === null ? "" : `, or run it with \`${runner} ${name}\``;
  return { why: "is not executable.", hint: `Make it executable with \`chmod +x ${name}\`${other}.` };
}

function onlyForOthers({ mode, uid, gid }: Stats): PermissionProblem {
  const rights = (mode & 0o7777).toString(8).padStart(4, "0");
  return {
    why: `is not executable by this user (mode ${rights}, owner ${uid}, group ${gid}).`,
    hint: "Ask the file's owner to run `chmod o+x` on it, or to change its group to one that you belong to.",
  };
}

function interpreterRefused(file: string): PermissionProblem {
  const interpreter = interpreterOf(file);
  if (interpreter === null || mayExecute(interpreter.path) || !existsSync(interpreter.path)) return UNKNOWN;
  return {
    why: `needs ${interpreter.path}, which is not executable.`,
    hint: `Make it executable with \`chmod +x ${interpreter.path}\`, or use another interpreter.`,
  };
}

/**
 * Returns the first file with this name on PATH, or null. The first one represents all of them: the kernel refused to
 * execute any file with this name.
 */
function firstOnPath(program: string, path: string): string | null {
  return (
    pathFolders(path)
      .map((folder) => join(folder, program))
      .find((file) => existsSync(file)) ?? null
  );
}

function closedFolder(file: string): string | null {
  const folders: string[] = [];
  for (let folder = dirname(file); folder !== "/"; folder = dirname(folder)) folders.unshift(folder);
  return folders.find((folder) => existsSync(folder) && !mayExecute(folder)) ?? null;
}

const RUNNERS: Readonly<Record<string, string>> = {
  ".sh": "bash",
  ".bash": "bash",
  ".py": "python3",
  ".js": "node",
  ".mjs": "node",
  ".cjs": "node",
  ".pl": "perl",
  ".rb": "ruby",
};

/** Returns a program that can run the script, or null when none is known. */
function runnerOf(file: string): string | null {
  const interpreter = interpreterOf(file);
  if (interpreter?.kind === "loader") return null;
  if (interpreter !== null && !interpreter.path.endsWith("/env")) return interpreter.path;
  return RUNNERS[extname(file)] ?? null;
}

function mayExecute(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function statOf(file: string): Stats | null {
  try {
    return statSync(file);
  } catch {
    return null;
  }
}

/** Returns the mount point of a path if it is mounted noexec; null otherwise, or when the mounts cannot be read. */
function noexecMount(path: string): string | null {
  let found = { point: "", options: "" };
  for (const line of readMounts().split("\n")) {
    // The fields are the mount ID, parent ID, device, root, mount point and options; see proc(5).
    const [, , , , escaped = "", options = ""] = line.split(" ");
    const point = escaped.replace(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    const holds = point === "/" || path === point || path.startsWith(`${point}/`);
    // A later mount on the same mount point hides an earlier one.
    if (point !== "" && holds && point.length >= found.point.length) found = { point, options };
  }
  return found.options.split(",").includes("noexec") ? found.point : null;
}

function readMounts(): string {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return "";
  }
}
