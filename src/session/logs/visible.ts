import type { LogSlice } from "../../core/gateway.ts";
import type { SessionInfo } from "../../core/session.ts";
import { counted, exactSize } from "../../text/format.ts";
import { terminalText } from "../../text/terminal/terminal-text.ts";

/** Output as a reader sees it: cleaned text, or the mark of a gap, which is a line of its own. */
export interface VisiblePart {
  kind: "text" | "gap";
  text: string;
}

/**
 * Returns the mark of bytes that are permanently missing from a log. Dropped bytes exceeded the disk cap of their stream;
 * lost bytes could not be written.
 */
export function gapMark(bytes: number, streams: SessionInfo["streams"], diskCap: number | null): string {
  const lost = Object.values(streams).some((stream) => stream.lost > 0);
  const causes = [
    ...(lost && holeBytes(streams) === 0
      ? []
      : [`over the ${diskCap ? `${exactSize(diskCap)} ` : ""}limit of this stream`]),
    ...(lost ? ["not written because the disk was full"] : []),
  ];
  return `[... ${counted(bytes, "byte")} ${bytes === 1 ? "was" : "were"} dropped: ${causes.join(", or ")} ...]`;
}

/** Returns the number of bytes that were dropped from the streams because of the disk cap. */
export function holeBytes(streams: SessionInfo["streams"]): number {
  return Object.values(streams).reduce((sum, { droppedStart, droppedEnd }) => sum + droppedEnd - droppedStart, 0);
}

/** Returns the number of bytes that are missing from the streams for any reason. */
export function missingBytes(streams: SessionInfo["streams"]): number {
  return Object.values(streams).reduce((sum, { lost }) => sum + lost, holeBytes(streams));
}

/**
 * Converts a slice of a log to what a model sees. The text on each side of a gap is converted separately, because the
 * state of the terminal after the gap is unknown.
 */
export function visibleParts(slice: LogSlice, { streams }: Pick<SessionInfo, "streams">): VisiblePart[] {
  const parts: VisiblePart[] = [];
  let run: Uint8Array[] = [];
  const endRun = () => {
    const text = terminalText(Buffer.concat(run).toString("utf8"));
    if (text !== "") parts.push({ kind: "text", text });
    run = [];
  };
  for (const { bytes, dropped } of slice.chunks) {
    if (dropped > 0) {
      endRun();
      parts.push({ kind: "gap", text: gapMark(dropped, streams, slice.diskCap ?? null) });
    }
    run.push(bytes);
  }
  endRun();
  return parts;
}

/** Joins parts to one text, in which each gap is a line of its own. */
export function joinParts(parts: readonly VisiblePart[]): string {
  let joined = "";
  for (const { kind, text } of parts) {
    if (text === "") continue;
    if (kind === "gap" && joined !== "" && !joined.endsWith("\n")) joined += "\n";
    joined += kind === "gap" ? `${text}\n` : text;
  }
  return joined;
}
