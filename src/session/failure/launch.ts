import { statSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import { callerEnv } from "../../core/caller.ts";
import type { ErrorType, Recovery } from "../../core/error.ts";
import { nextStep, operatorStep } from "../../core/next-step.ts";
import type { ExitRecord } from "../../executor/execution.ts";
import { quotedName, shownName } from "../../text/command-line.ts";
import { suggestions, USE_SHELL } from "./not-found.ts";
import { permissionProblem } from "./permission-denied.ts";
import { findProgram, interpreterOf, isMissing, type LookupContext } from "./programs.ts";

const { errno: E } = constants;

export interface LaunchFailure {
  type: ErrorType;
  message: string;
  recovery: Recovery[];
}

/** Returns why a command could not be started, and how to recover (invariant 8). */
export function launchFailure(record: ExitRecord, program: string, cwd: string): LaunchFailure {
  const { step = "start", errno = 0 } = record;
  const place: LookupContext = { cwd, path: callerEnv().PATH ?? "" };
  const wrongPlace = pathFailure(step, errno, cwd);
  if (wrongPlace !== null) return wrongPlace;
  if (step === "execve" && (errno === E.ENOENT || errno === E.ENOTDIR)) return notFound(program, place);
  if (step === "execve" && errno === E.EACCES) return permissionDenied(program, place);
  if (step === "execve" && errno === E.ENOEXEC) return wrongFormat(program);
  if (errno === E.E2BIG) {
    return {
      type: "ArgumentsTooLong",
      message:
        "The arguments and environment exceed the system's limit (usually 2 MiB in total, 128 KiB per argument).",
      recovery: [{ action: "use_stdin", hint: "Write the data to a file and pass its path." }],
    };
  }
  return spawnFailed(program, step, errno);
}

/** Returns the error for a program that does not exist, or whose interpreter does not exist. */
export function notFound(program: string, place: LookupContext): LaunchFailure {
  const missing = missingInterpreter(program, place);
  if (missing !== null) return missing;
  const word = quotedName(program);
  const recovery = suggestions(program, place);
  if (program.includes("/")) {
    recovery.push({ action: "check_path", hint: `Check the path with \`ls -l ${word}\`.` });
  } else if (!recovery.some(({ action }) => action === USE_SHELL)) {
    recovery.push(
      { action: "check_path", hint: `Run \`command -v ${word}\` to check that it is installed and on PATH.` },
      { action: "use_full_path", hint: "Use the full path of the executable." },
    );
  }
  return { type: "CommandNotFound", message: `Command not found: ${shownName(program)}.`, recovery };
}

/**
 * Returns the error for a program whose interpreter does not exist, for which the kernel also reports ENOENT; null for
 * other programs.
 */
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
      message: `${name} has Windows line endings: its first line names ${asked} followed by a carriage return.`,
      recovery: [{ action: "fix_line_endings", hint: `Convert it with \`sed -i 's/\\r$//' ${word}\`.` }],
    };
  }
  const isScript = interpreter.kind === "script";
  const hint = isScript
    ? `Fix its first line, or run it with another interpreter, such as \`bash ${word}\`.`
    : "It was built for another system or C library. Use a build for this system.";
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
    message: `${shownName(program)} cannot run on this machine: it has no \`#!\` line, or was built for another processor.`,
    recovery: [
      { action: "check_format", hint: `Check its type with \`file ${quotedName(program)}\`.` },
      {
        action: "use_interpreter",
        hint: `If it is a script, run it with its interpreter, such as \`bash ${quotedName(program)}\`.`,
      },
    ],
  };
}

/**
 * Returns the error for a working directory or log file that does not exist or is out of scope; null for other steps.
 */
function pathFailure(step: string, errno: number, cwd: string): LaunchFailure | null {
  const folder = `The working directory ${shownName(cwd)}`;
  if (step === "chdir") return workdirFailure(folder, cwd, errno);
  if (step === "scope") return outOfScope(`${folder} is outside the workspace.`);
  if (step !== "scope-log") return null;
  return outOfScope(
    errno === E.EMLINK
      ? "The log file has more than one hard link, so it may be a file outside the workspace."
      : "The log file is outside the workspace.",
  );
}

function workdirFailure(folder: string, cwd: string, errno: number): LaunchFailure {
  const why =
    errno === E.ENOTDIR || isFile(cwd)
      ? "is not a folder"
      : errno === E.EACCES
        ? "cannot be entered"
        : "does not exist";
  const recovery = [nextStep("check_scope", { name: "fix-folder", parameter: "cwd" })];
  return { type: "WorkdirNotFound", message: `${folder} ${why}.`, recovery };
}

function isFile(path: string): boolean {
  try {
    return !statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Returns the error for a path that failed the keeper's check after it had passed the gateway's, because a link in it
 * was changed in between.
 */
function outOfScope(message: string): LaunchFailure {
  return {
    type: "PathOutOfScope",
    message,
    recovery: [
      { action: "check_scope", hint: "Use a path in the workspace that contains no links to files outside it." },
    ],
  };
}

const RETRY: Recovery = { action: "retry", hint: "Retry the operation." };
const CHECK_PERMISSIONS: Recovery = {
  action: "check_permissions",
  hint: "Check that the command is executable and that its parent folders can be entered.",
};

const CHECK_SANDBOX = operatorStep(
  "check_sandbox",
  "Run `sallyport doctor` to see what this machine supports and how to enable more.",
);

const LESS_STRICT: Recovery = {
  action: "ask_operator",
  hint: "The operator can choose a profile that this machine supports.",
};

const RETRY_SANDBOX: Recovery = {
  action: "retry",
  hint: "Retry the command: Sallyport then checks again what this machine supports.",
};

const BY_STEP: Record<string, string> = {
  claim: "its session folder could not be created",
  folder: "its session folder could not be opened",
  record: "no space could be reserved for its exit record",
  control: "its control socket could not be created",
  log: "its log file could not be opened",
  pipe: "no pipe could be created for its output",
  stdin: "its stdin could not be prepared",
  fork: "no process could be forked",
  "limit-core": "its core dump limit could not be set",
  "limit-files": "its open file limit could not be set",
  "limit-file-size": "its file size limit could not be set",
  "limit-processes": "its process limit could not be set",
  "limit-data": "its memory limit could not be set",
  cgroup: "it could not join its cgroup",
  "sandbox-landlock": "its file access could not be restricted",
  "sandbox-seccomp": "its system calls could not be restricted",
  "sandbox-capabilities": "its capabilities could not be dropped",
  "sandbox-privileges": "no_new_privs could not be set for it",
  "sandbox-mount": "its mount namespace could not be set up",
  "sandbox-namespace": "its namespaces could not be created",
  "sandbox-user": "it could not switch to the configured user",
  "sandbox-memory": "there was not enough memory for its sandbox",
  "sandbox-require": "a part of its sandbox could not be set up",
  keeper: "the gateway or the keeper exited before the command was started",
};

/** Returns the error for a failed step that is unrelated to the program file, such as the fork or the sandbox. */
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
    return [
      { action: "free_space", hint: "Free disk space, then try again." },
      operatorStep("clean", "`sallyport clean` removes old sessions."),
    ];
  }
  if (errno === E.EAGAIN) {
    return [
      { action: "stop_processes", hint: "The process limit is reached. Stop some processes, then try again." },
      operatorStep("increase_limits", "Or raise the limit with `ulimit -u`."),
    ];
  }
  if (errno === E.EMFILE || errno === E.ENFILE) {
    return [
      operatorStep(
        "increase_limits",
        "The open file limit is reached. Raise it with `ulimit -n`, then stop the zygote; the next command restarts it.",
      ),
      RETRY,
    ];
  }
  if (step === "sandbox-require") return [RETRY_SANDBOX, CHECK_SANDBOX];
  if (step.startsWith("sandbox-")) return [CHECK_SANDBOX, LESS_STRICT];
  if (step === "log") {
    return [nextStep("check_path", { name: "fix-log-file" })];
  }
  if (errno === E.ETXTBSY) {
    return [{ action: "retry", hint: "The program file is open for writing. Wait until it is closed, then retry." }];
  }
  return step === "keeper" ? [RETRY] : [CHECK_PERMISSIONS, RETRY];
}

function errorName(number: number): string {
  return Object.entries(E).find(([, value]) => value === number)?.[0] ?? `errno ${number}`;
}
