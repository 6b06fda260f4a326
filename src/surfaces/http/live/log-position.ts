import type { Capture, StreamName } from "../../../contract/session.ts";

/** How far the reader of a log is, in each of its streams; `ended`: they were told of its end. */
export interface LogPosition {
  after: Partial<Record<StreamName, number>>;
  ended: boolean;
}

const WRITTEN = /^(\d{1,15})(?:\.(\d{1,15}))?(-end)?$/;

/** As the `id` of an event: `120` of a terminal or merged log, `120.4` of stdout and stderr. */
export function logPositionText({ after, ended }: LogPosition, capture: Capture): string {
  const offsets = capture === "merged" ? [after.output] : [after.stdout, after.stderr];
  return `${offsets.map((offset) => offset ?? 0).join(".")}${ended ? "-end" : ""}`;
}

/** Null: nobody here wrote that, or not about such a session. */
export function parseLogPosition(text: string, capture: Capture): LogPosition | null {
  const [whole, first, second, end] = WRITTEN.exec(text) ?? [];
  if (whole === undefined || (second === undefined) !== (capture === "merged")) return null;
  const after = capture === "merged" ? { output: Number(first) } : { stdout: Number(first), stderr: Number(second) };
  return { after, ended: end !== undefined };
}
