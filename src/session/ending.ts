import type { Status } from "../contract/result.ts";
import type { Ending, ExitRecord } from "../executor/executor.ts";
import { launchFailure } from "../present/launch-failure.ts";
import { lostNote, sessionLost } from "../present/session-lost.ts";
import type { Ended, SessionRow } from "../store/sessions.ts";

const STATUS: Record<ExitRecord["reason"], Status> = {
  exited: "completed",
  timeout: "timed_out",
  killed: "killed",
  failed: "failed",
};

type Asked = Pick<SessionRow, "command" | "args" | "cwd" | "capture" | "warnings">;

/** What became of a session, in a word and what there is to say about it. */
export function outcomeOf(row: Asked, ending: Ending): Pick<Ended, "status" | "warnings" | "error"> {
  if (ending === "lost") return { status: "lost", warnings: row.warnings, error: JSON.stringify(sessionLost()) };
  const error = ending.reason === "failed" ? JSON.stringify(failureOf(row, ending)) : null;
  return { status: STATUS[ending.reason], warnings: withLosses(row, ending), error };
}

/** What a session's row says once it has ended. */
export function endingOf(row: Asked, ending: Ending): Ended {
  const outcome = outcomeOf(row, ending);
  if (ending === "lost") return { ...outcome, endedMs: Date.now(), lingering: false, bytes: 0, record: null };
  return {
    ...outcome,
    endedMs: Math.round(ending.endedUs / 1000),
    lingering: !ending.final,
    bytes: ending.streams.reduce((sum, s) => sum + s.bytes - (s.droppedEnd - s.droppedStart), 0),
    record: JSON.stringify(ending),
  };
}

export function failureOf(row: Pick<SessionRow, "command" | "args" | "cwd">, record: ExitRecord) {
  return launchFailure(record, row.args === null ? "bash" : row.command, row.cwd);
}

/** A full disk costs output, never the command; the loss is counted and said. */
function withLosses(row: Asked, record: ExitRecord): string {
  if (!record.streams.some((stream) => stream.lost > 0)) return row.warnings;
  const names = row.capture === "merged" ? ["output"] : ["stdout", "stderr"];
  const losses = record.streams.flatMap((s, i) => (s.lost > 0 ? [lostNote(names[i] ?? "output", s.lost)] : []));
  return JSON.stringify([...(JSON.parse(row.warnings) as string[]), ...losses]);
}
