import { constants } from "node:os";
import type { ErrorType, Recovery } from "../contract/error.ts";
import type { ExitRecord } from "../executor/executor.ts";

const { errno: E } = constants;

export interface LaunchFailure {
  type: ErrorType;
  message: string;
  recovery: Recovery[];
}

const RETRY: Recovery = { action: "retry", hint: "Retry the operation." };
const CHECK_PERMISSIONS: Recovery = {
  action: "check_permissions",
  hint: "Verify that the command is executable and that its folders may be entered.",
};

function errorName(number: number): string {
  return Object.entries(E).find(([, value]) => value === number)?.[0] ?? `errno ${number}`;
}

function notFound(program: string): LaunchFailure {
  const recovery = [{ action: "check_path", hint: `Check whether it is installed and on PATH: command -v ${program}` }];
  if (!program.includes("/")) {
    recovery.push({ action: "use_full_path", hint: "Name the executable by its full path." });
  }
  return { type: "CommandNotFound", message: `Command not found: ${program}`, recovery };
}

function workdir(cwd: string, errno: number): LaunchFailure {
  const why = errno === E.ENOTDIR ? "is not a folder" : errno === E.EACCES ? "may not be entered" : "does not exist";
  const recovery = [{ action: "check_scope", hint: "Name an existing folder, or leave `cwd` out for the workspace." }];
  return { type: "WorkdirNotFound", message: `The working directory ${cwd} ${why}.`, recovery };
}

/** The path was in the workspace when it was checked, and is not any more: somebody moved a link under it. */
function outOfScope(what: string): LaunchFailure {
  return {
    type: "PathOutOfScope",
    message: `${what} does not lie in the workspace.`,
    recovery: [{ action: "check_scope", hint: "Name a place in the workspace that is not changed meanwhile." }],
  };
}

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
  keeper: "nobody took it up before its gateway or its keeper was gone",
};

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
  if (step === "log") {
    return [{ action: "check_path", hint: "`logFile` must name a regular file in an existing, writable folder." }];
  }
  return step === "keeper" ? [RETRY] : [CHECK_PERMISSIONS, RETRY];
}

/** Why a command could not be started, for the caller (promise 8). */
export function launchFailure(record: ExitRecord, program: string, cwd: string): LaunchFailure {
  const { step = "start", errno = 0 } = record;
  if (step === "chdir") return workdir(cwd, errno);
  if (step === "scope") return outOfScope(`The working directory ${cwd}`);
  if (step === "scope-log") {
    return outOfScope(errno === E.EMLINK ? "A file that the log file is another name of" : "The log file");
  }
  if (step === "execve" && (errno === E.ENOENT || errno === E.ENOTDIR)) return notFound(program);
  if (step === "execve" && errno === E.EACCES) {
    const message = `Permission denied: ${program} is a folder or not an executable file.`;
    return { type: "PermissionDenied", message, recovery: [CHECK_PERMISSIONS] };
  }
  if (errno === E.E2BIG) {
    return {
      type: "ArgumentsTooLong",
      message: "The arguments and environment together are longer than the system takes.",
      recovery: [{ action: "use_stdin", hint: "Pass the data through stdin or a file instead." }],
    };
  }
  const what = BY_STEP[step] ?? `the step "${step}" failed`;
  const why = errno ? ` (${errorName(errno)})` : "";
  return {
    type: "SpawnFailed",
    message: `${program} could not be started: ${what}${why}.`,
    recovery: recoveryFor(errno, step),
  };
}
