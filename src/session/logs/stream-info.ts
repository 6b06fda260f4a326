import type { Capture, StreamInfo, StreamName } from "../../core/session.ts";
import { closeSessionLog, holeOf, openSessionLog, streamSize } from "./session-log.ts";

/** How much of each stream there is, was punched out, and could not be written. */
export function streamInfo(folder: string, capture: Capture): Partial<Record<StreamName, StreamInfo>> {
  const log = openSessionLog(folder, capture);
  try {
    const info: Partial<Record<StreamName, StreamInfo>> = {};
    for (const [stream, name] of log.names.entries()) {
      const bytes = streamSize(log, stream);
      const { start, end } = holeOf(log, stream);
      const droppedEnd = Math.min(end, bytes);
      const lost = log.timeline.header.lost[stream === 0 ? 0 : 1];
      info[name] = { bytes, droppedStart: Math.min(start, droppedEnd), droppedEnd, lost };
    }
    return info;
  } finally {
    closeSessionLog(log);
  }
}
