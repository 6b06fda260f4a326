import { type LaunchFailure, notFound, permissionDenied, wrongFormat } from "./launch.ts";
import type { LookupContext } from "./programs.ts";

/** The last error message of a shell, about a command that it could not run. */
interface ShellError {
  program: string;
  kind: "not-found" | "refused" | "format";
}

const NOT_FOUND_TEXTS = [": command not found", ": not found", ": cannot execute: required file not found"];
const NO_FILE = ": No such file or directory";
const BAD_INTERPRETER = ": bad interpreter: No such file or directory";
const REFUSED = [
  ": cannot execute: Permission denied",
  ": Permission denied",
  ": Is a directory",
  ": cannot execute: Is a directory",
];

const FORMAT = [
  ": cannot execute binary file: Exec format error",
  ": cannot execute: Exec format error",
  ": Exec format error",
];

/** Prefixes such as `bash: line 3: `, `sh: 1: exec: `, `env: ` and `timeout: failed to run command `. */
const PREFIX = /^[^:\s][^:]{0,200}: (?:line \d+: |\d+: )?(?:exec: )?(?:failed to run command )?/;
const LONGEST_LINE = 4096;

/** Parses the last line of stderr as an error of bash, dash or a wrapper such as `env`; null when it is not one. */
function parseShellError(stderr: string): ShellError | null {
  const end = stderr.trimEnd();
  const line = end.slice(end.lastIndexOf("\n") + 1);
  const speaker = line.length > LONGEST_LINE ? undefined : PREFIX.exec(line)?.[0];
  if (speaker === undefined) return null;
  const said = line.slice(speaker.length);
  if (said.endsWith(BAD_INTERPRETER)) {
    const start = said.slice(0, -BAD_INTERPRETER.length);
    return named(start.slice(0, Math.max(0, start.lastIndexOf(": "))), "not-found");
  }
  return (
    matchEnding(said, [...NOT_FOUND_TEXTS, NO_FILE], "not-found") ??
    matchEnding(said, FORMAT, "format") ??
    matchEnding(said, REFUSED, "refused")
  );
}

function matchEnding(said: string, endings: string[], kind: ShellError["kind"]): ShellError | null {
  const ending = endings.find((each) => said.endsWith(each));
  return ending === undefined ? null : named(said.slice(0, -ending.length), kind);
}

/** Strips quotes around the program's name. A name that bash printed as `$'…'` is ignored. */
function named(said: string, kind: ShellError["kind"]): ShellError | null {
  const program = /^[‘'`"](.*)[’'"]$/.exec(said)?.[1] ?? said;
  return program === "" || program.startsWith("$'") ? null : { program, kind };
}

const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

/** Reports whether the exit code is one that shells use for a command they could not run. */
export function mayBeShellFailure(exitCode: number | null): boolean {
  return exitCode === NOT_EXECUTABLE || exitCode === NOT_FOUND;
}

/**
 * Returns why a shell could not run a command, derived from its exit code and its last error message; null when there
 * is no such message. The errors are the same as for a program that is run directly.
 */
export function shellFailure(exitCode: number | null, stderr: string, place: LookupContext): LaunchFailure | null {
  if (!mayBeShellFailure(exitCode)) return null;
  const complaint = parseShellError(stderr);
  if (complaint === null) return null;
  if (exitCode === NOT_FOUND) return complaint.kind === "not-found" ? notFound(complaint.program, place) : null;
  if (complaint.kind === "format") return wrongFormat(complaint.program);
  return complaint.kind === "refused" ? permissionDenied(complaint.program, place) : null;
}
