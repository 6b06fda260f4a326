import { constants } from "node:os";
import { resolve } from "node:path";
import type { ErrorType, Recovery } from "../../core/error.ts";
import type { ExitRecord } from "../../executor/executor.ts";
import { shellWord, shownName } from "../../text/shell-word.ts";
import { suggestions } from "./not-found.ts";
import { whyRefused } from "./permission-denied.ts";
import { placeFailure } from "./place.ts";
import { interpreterOf, isMissing } from "./programs/interpreter.ts";
import { findProgram, type Place } from "./programs.ts";
import { spawnFailed } from "./spawn.ts";

const { errno: E } = constants;

export interface LaunchFailure {
  type: ErrorType;
  message: string;
  recovery: Recovery[];
}

/** Why a command could not be started, and the ways out of it (promise 8). `path` is where its name was looked for. */
export function launchFailure(
  record: ExitRecord,
  program: string,
  cwd: string,
  path = process.env.PATH,
): LaunchFailure {
  const { step = "start", errno = 0 } = record;
  const place: Place = { cwd, path: path ?? "" };
  const wrongPlace = placeFailure(step, errno, cwd);
  if (wrongPlace !== null) return wrongPlace;
  if (step === "execve" && (errno === E.ENOENT || errno === E.ENOTDIR)) return notFound(program, place);
  if (step === "execve" && errno === E.EACCES) return refused(program, place);
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
export function notFound(program: string, place: Place): LaunchFailure {
  const missing = missingInterpreter(program, place);
  if (missing !== null) return missing;
  const word = shellWord(program);
  const recovery = suggestions(program, place);
  recovery.push({ action: "check_path", hint: `Check whether it is installed and on PATH: command -v ${word}` });
  if (!program.includes("/")) {
    recovery.push({ action: "use_full_path", hint: "Name the executable by its full path." });
  }
  return { type: "CommandNotFound", message: `Command not found: ${shownName(program)}`, recovery };
}

/** The kernel says "no such file" of a file that exists when what should interpret it does not. */
function missingInterpreter(program: string, { cwd, path }: Place): LaunchFailure | null {
  const file = program.includes("/") ? resolve(cwd, program) : findProgram(program, path);
  const interpreter = file === null ? null : interpreterOf(file);
  if (interpreter === null || !isMissing(interpreter)) return null;
  const name = shownName(program);
  const word = shellWord(program);
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

export function refused(program: string, place: Place): LaunchFailure {
  const { why, hint } = whyRefused(program, place);
  const recovery = [{ action: "check_permissions", hint }];
  return { type: "PermissionDenied", message: `Permission denied: ${shownName(program)} ${why}`, recovery };
}

export function wrongFormat(program: string): LaunchFailure {
  return {
    type: "SpawnFailed",
    message: `${shownName(program)} is not a program this machine can run: it has no \`#!\` line, or was built for another processor.`,
    recovery: [
      { action: "check_format", hint: `See what it is: file ${shellWord(program)}` },
      { action: "use_interpreter", hint: `If it is a script, name its interpreter: bash ${shellWord(program)}` },
    ],
  };
}
