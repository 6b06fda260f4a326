import type { StreamName } from "../../core/session.ts";
import { closeFile, logFile, readAt, sizeOf } from "./log-file.ts";
import { DEFAULT_TEXT_BYTES, EMPTY, joinEnds, type LogText } from "./text.ts";
import { closeTimeline, openTimeline } from "./timeline.ts";
import type { Range } from "./timeline-format.ts";

/** Reused, since nearly every output fits and a foreground run is not to pay for memory it does not need. */
const small = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * A whole stream as text, or its head and tail where it is longer than `maxBytes`. For a command that has ended.
 * `size` is how much the caller knows to be written: at 0 the disk is not touched.
 */
export function readTextSync(
  folder: string,
  stream: StreamName,
  maxBytes: number = DEFAULT_TEXT_BYTES,
  size?: number,
): LogText {
  if (size === 0) return EMPTY;
  const file = logFile(`${folder}/${stream}`);
  try {
    const filled = readAt(file, small, 0);
    const whole = filled < small.length;
    // A hole reads as NULs: without any, there is no need to ask the timeline.
    if (whole && filled <= maxBytes && !small.subarray(0, filled).includes(0)) {
      return filled === 0 ? EMPTY : { text: small.toString("utf8", 0, filled), omittedBytes: 0, omittedAt: null };
    }
    const length = whole ? filled : sizeOf(file);
    const omitted = omittedRange(length, holeIn(folder, stream), maxBytes);
    const head = Buffer.allocUnsafe(omitted.start);
    const tail = Buffer.allocUnsafe(length - omitted.end);
    return joinEnds(head.subarray(0, readAt(file, head, 0)), tail.subarray(0, readAt(file, tail, omitted.end)), length);
  } finally {
    closeFile(file);
  }
}

function holeIn(folder: string, stream: StreamName): Range {
  const timeline = openTimeline(`${folder}/timeline`);
  closeTimeline(timeline);
  return timeline.header.holes[stream === "stderr" ? 1 : 0];
}

/** What to leave out: the hole, and around it (or in the middle) as much as it takes. */
function omittedRange(length: number, hole: Range, maxBytes: number): Range {
  const half = Math.floor(maxBytes / 2);
  const end = Math.min(hole.end, length);
  const start = Math.min(hole.start, end);
  if (start < end) {
    const tail = Math.min(length - end, maxBytes - Math.min(half, start));
    return { start: Math.min(start, maxBytes - tail), end: length - tail };
  }
  return length <= maxBytes ? { start: length, end: length } : { start: half, end: length - (maxBytes - half) };
}
