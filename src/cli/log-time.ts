import type { LogChunk } from "../core/session.ts";

export type Style = (how: "dim" | "red", text: string) => string;

/** When a line came and by which stream: a person's own time of day, or for programs the whole time. */
export function timePrefix(
  { timeMs, stream }: Pick<LogChunk, "timeMs" | "stream">,
  { style, local }: { style: Style; local: boolean },
): string {
  const time = timeMs === null ? "-" : local ? timeOfDay(new Date(timeMs)) : new Date(timeMs).toISOString();
  const mark = stream === "stderr" ? style("red", "err") : style("dim", "out");
  return `${style("dim", time)} ${mark} `;
}

function timeOfDay(date: Date): string {
  const two = (count: number) => String(count).padStart(2, "0");
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return `${clock}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
