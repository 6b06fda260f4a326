import { type LaunchFailure, notFound, refused, wrongFormat } from "./launch.ts";
import type { Place } from "./programs.ts";
import { complaintIn } from "./shell-complaint.ts";

const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

/** The codes by which a shell says that it could not run a command. */
export function mayBeShellFailure(exitCode: number | null): boolean {
  return exitCode === NOT_EXECUTABLE || exitCode === NOT_FOUND;
}

/**
 * Why a shell could not run a command, from its exit code and what it said last; null when it said nothing of the
 * kind. The same answers as for a program that was run directly.
 */
export function shellFailure(exitCode: number | null, stderr: string, place: Place): LaunchFailure | null {
  if (!mayBeShellFailure(exitCode)) return null;
  const complaint = complaintIn(stderr);
  if (complaint === null) return null;
  if (exitCode === NOT_FOUND) return complaint.kind === "not-found" ? notFound(complaint.program, place) : null;
  if (complaint.kind === "format") return wrongFormat(complaint.program);
  return complaint.kind === "refused" ? refused(complaint.program, place) : null;
}
