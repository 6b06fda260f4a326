import { statSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import type { ErrorType, Recovery } from "../../core/error.ts";
import type { ExitRecord } from "../../executor/execution.ts";
import { quotedName, shownName } from "../../text/command-line.ts";
import { suggestions } from "./not-found.ts";
import { permissionProblem } from "./permission-denied.ts";
import { findProgram, interpreterOf, isMissing, type LookupContext } from "./programs.ts";

const { errno: E } = constants;

export interface LaunchFailure {
  type: ErrorType;
  message: string;
  recovery: Recovery[];
}

/** Why a command could not be started, and the ways out of it (promise 8). */
export function launchFailure(record: ExitRecord, program: string, cwd: string): LaunchFailure {
  const { step = "start", errno = 0 } = record;
  const place: LookupContext = { cwd, path: process.env.PATH ?? "" };
  const wrongPlace = pathFailure(step, errno, cwd);
  if (wrongPlace !== null) return wrongPlace;
  if (step === "execve" && (errno === E.ENOENT || errno === E.ENOTDIR)) return notFound(program, place);
  if (step === "execve" && errno === E.EACCES) return permissionDenied(program, place);
  if (step === "execve" && errno === E.ENOEXEC) return wrongFormat(program);
  if (errno === E.E2BIG) {
    return {
      type: "ArgumentsTooLong",
      message: "The arguments and environment together are longer than the system takes.",
      recovery: [{ action: "use_stdin", hint: "Pass the data through stdin or a file instead." }],
    };
  }
  return spawnFailed(program, step, errno);
}

/** The program is not there, or what it needs to be executed is not. */
export function notFound(program: string, place: LookupContext): LaunchFailure {
  const missing = missingInterpreter(program, place);
  if (missing !== null) return missing;
  const word = quotedName(program);
  const recovery = suggestions(program, place);
  recovery.push({ action: "check_path", hint: `Check whether it is installed and on PATH: command -v ${word}` });
  if (!program.includes("/")) {
    recovery.push({ action: "use_full_path", hint: "Name the executable by its full path." });
  }
  return { type: "CommandNotFound", message: `Command not found: ${shownName(program)}`, recovery };
}

/** The kernel says "no such file" of a file that exists when what should interpret it does not. */
function missingInterpreter(program: string, { cwd, path }: LookupContext): LaunchFailure | null {
  const file = program.includes("/") ? resolve(cwd, program) : findProgram(program, path);
  const interpreter = file === null ? null : interpreterOf(file);
  if (interpreter === null || !isMissing(interpreter)) return null;
  const name = shownName(program);
  const word = quotedName(program);
  const asked = shownName(interpreter.path);
  if (interpreter.windowsLine) {
    return {
      type: "CommandNotFound",
      message: `${name} has Windows line endings: its first line asks for ${asked} followed by a carriage return.`,
      recovery: [{ action: "fix_line_endings", hint: `Convert it: sed -i 's/\\r$//' ${word}` }],
    };
  }
  const isScript = interpreter.kind === "script";
  const hint = isScript
    ? `Correct its first line, or run it with another interpreter: bash ${word}`
    : "It was built for another system or C library: use a build for this one.";
  return {
    type: "CommandNotFound",
    message: `${name} needs ${isScript ? "the interpreter" : "the loader"} ${asked}, which does not exist.`,
    recovery: [{ action: "check_interpreter", hint }],
  };
}

export function permissionDenied(program: string, place: LookupContext): LaunchFailure {
  const { why, hint } = permissionProblem(program, place);
  const recovery = [{ action: "check_permissions", hint }];
  return { type: "PermissionDenied", message: `Permission denied: ${shownName(program)} ${why}`, recovery };
}

export function wrongFormat(program: string): LaunchFailure {
  return {
    type: "SpawnFailed",
    message: `${shownName(program)} is not a program this machine can run: it has no \`#!\` line, or was built for another processor.`,
    recovery: [
      { action: "check_format", hint: `See what it is: file ${quotedName(program)}` },
      { action: "use_interpreter", hint: `If it is a script, name its interpreter: bash ${quotedName(program)}` },
    ],
  };
}

/** The folder to run in, or the file to log to, is not there or not where it should be; null for any other step. */
function pathFailure(step: string, errno: number, cwd: string): LaunchFailure | null {
  const folder = `The working directory ${shownName(cwd)}`;
  if (step === "chdir") return workdirFailure(folder, cwd, errno);
  if (step === "scope") return outOfScope(folder);
  if (step === "scope-log") {
    return outOfScope(errno === E.EMLINK ? "A file that the log file is another name of" : "The log file");
  }
  return null;
}

function workdirFailure(folder: string, cwd: string, errno: number): LaunchFailure {
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

const RETRY: Recovery = { action: "retry", hint: "Retry the operation." };
const CHECK_PERMISSIONS: Recovery = {
  action: "check_permissions",
  hint: "Verify that the command is executable and that its folders may be entered.",
};

const CHECK_SANDBOX: Recovery = {
  action: "check_sandbox",
  hint: "See what this machine can do and how to reach more: sallyport doctor",
};

const LESS_STRICT: Recovery = {
  action: "ask_operator",
  hint: "The operator can choose a profile this machine can do, or take `require` out of the configuration.",
};

const BY_STEP: Record<string, string> = {
  claim: "its session folder could not be made",
  folder: "its session folder could not be opened",
  record: "there was no room for its exit record",
  control: "its control socket could not be made",
  log: "its log file could not be opened",
  pipe: "no pipe could be made for its output",
  stdin: "its input could not be prepared",
  fork: "no process could be forked",
  "limit-core": "its limit for core dumps could not be set",
  "limit-files": "its limit for open files could not be set",
  "limit-file-size": "its limit for file sizes could not be set",
  "limit-processes": "its limit for processes could not be set",
  "limit-data": "its limit for memory could not be set",
  cgroup: "it could not join the group that counts what it uses",
  "sandbox-landlock": "its file access could not be restricted",
  "sandbox-seccomp": "its system calls could not be restricted",
  "sandbox-capabilities": "its capabilities could not be dropped",
  "sandbox-privileges": "new privileges could not be ruled out for it",
  "sandbox-mount": "its private view of the files could not be made",
  "sandbox-namespace": "its namespaces could not be made",
  "sandbox-user": "it could not be made to run as the user that is configured",
  "sandbox-memory": "there was no memory for its sandbox",
  "sandbox-require": "this machine cannot confine it as strictly as is required",
  keeper: "nobody took it up before its gateway or its keeper was gone",
};

/** A step of the start failed that has little to do with the command itself. */
function spawnFailed(program: string, step: string, errno: number): LaunchFailure {
  const what = BY_STEP[step] ?? `the step "${step}" failed`;
  const why = errno ? ` (${errorName(errno)})` : "";
  return {
    type: "SpawnFailed",
    message: `${shownName(program)} could not be started: ${what}${why}.`,
    recovery: recoveryFor(errno, step),
  };
}

function recoveryFor(errno: number, step: string): Recovery[] {
  if (errno === E.ENOSPC || errno === E.EDQUOT) {
    return [{ action: "free_space", hint: "Free some disk space; `sallyport clean` removes old sessions." }];
  }
  if (errno === E.EAGAIN) {
    return [
      { action: "increase_limits", hint: "The system is out of processes: end some, or raise ulimit -u." },
      RETRY,
    ];
  }
  if (errno === E.EMFILE || errno === E.ENFILE) {
    return [
      { action: "increase_limits", hint: "Out of descriptors: raise ulimit -n, then restart the keeper." },
      RETRY,
    ];
  }
  if (step.startsWith("sandbox-")) return [CHECK_SANDBOX, LESS_STRICT];
  if (step === "log") {
    return [{ action: "check_path", hint: "`logFile` must name a regular file in an existing, writable folder." }];
  }
  if (errno === E.ETXTBSY) {
    return [{ action: "retry", hint: "The program is being written: wait until that is done, then retry." }];
  }
  return step === "keeper" ? [RETRY] : [CHECK_PERMISSIONS, RETRY];
}

function errorName(number: number): string {
  return Object.entries(E).find(([, value]) => value === number)?.[0] ?? `errno ${number}`;
}
