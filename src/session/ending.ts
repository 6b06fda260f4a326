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

/** What a session's row says once it has ended. */
export function endingOf(row: Asked, ending: Ending): Ended {
  if (ending === "lost") {
    const error = JSON.stringify(sessionLost());
    const rest = { lingering: false, bytes: 0, record: null, warnings: row.warnings };
    return { status: "lost", endedMs: Date.now(), error, ...rest };
  }
  const bytes = ending.streams.reduce((sum, s) => sum + s.bytes - (s.droppedEnd - s.droppedStart), 0);
  return {
    status: STATUS[ending.reason],
    endedMs: Math.round(ending.endedUs / 1000),
    lingering: !ending.final,
    bytes,
    record: JSON.stringify(ending),
    warnings: withLosses(row, ending),
    error: ending.reason === "failed" ? JSON.stringify(failureOf(row, ending)) : null,
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
